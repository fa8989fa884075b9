"""Raters walk through studies in a real browser: blind, each in an order of their own, by keyboard alone.

The raters are scripts, and are named so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.server.store.database import ServiceStore
from citewell.server.studies.judgments import ItemJudgment, judgments_of
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import HARM, OpenPage, in_store
from tests.server.pages.test_accessibility import WIDE, faults
from tests.server.studies.samples import SYSTEMS, study_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

PHONE = {"width": 390, "height": 844}
QUESTIONS = (f"Why is {HARM} the sky blue?", "Why is the sea salty?")


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    with serving(settings()) as service:
        yield service


def add(service: Service, form: str, **plan: Any) -> str:
    study, items = study_of(form, questions=QUESTIONS, **plan)
    in_store(service, lambda store: store.studies.add(study, items))
    return study.id


def stored(service: Service, study_id: str) -> list[ItemJudgment]:
    async def read(store: ServiceStore) -> list[ItemJudgment]:
        return await judgments_of(store, await store.studies.items(study_id))

    return list(in_store(service, read))


async def begin(open_page: OpenPage, service: Service, study_id: str, rater: str, **options: Any) -> Any:
    page = await open_page(f"/studies/{study_id}", url=service.url, **options)
    await page.get_by_label("Your name").fill(rater)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/studies/*rater=*")
    return page


async def press_through(page: Any, choose: Callable[[str], str]) -> None:
    """Fill all steps of a page by keyboard and store it; `choose` returns the key for the name of a step."""
    before = await page.locator("#judging").get_attribute("data-body")
    await page.locator("#judged-question").focus()
    await page.keyboard.press("j")
    while name := await page.evaluate("document.activeElement.name"):
        await page.keyboard.press(choose(name))
    await page.keyboard.press("Enter")
    same = "before => document.querySelector('#judging')?.dataset.body !== before"
    await page.wait_for_function(same, arg=before)


@pytest.mark.parametrize("form", ["webglm", "turing", "instructgpt", "truthfulqa", "stance"])
async def test_a_study_of_four_systems_is_walked_through_by_keyboard(
    open_page: OpenPage, service: Service, form: str
) -> None:
    study = add(service, form)
    for number in (1, 2):
        page = await begin(open_page, service, study, f"scripted {number}")
        for _ in QUESTIONS:
            letters = await page.locator(".ranked").count()
            assert letters == 4
            ranks = iter("1223")
            await press_through(page, lambda name: next(ranks) if name.endswith("rank") else "2")  # noqa: B023
        await page.get_by_text("You have judged all pages.").wait_for()
    judged = stored(service, study)
    assert len(judged) == 4
    for each in judged:
        if form in ("turing", "instructgpt"):
            assert sorted(each.ranks) == [1, 2, 2, 3]
        if form != "turing":
            assert sorted(each.scores) == [0, 1, 2, 3]
    await page.get_by_role("link", name="Results", exact=True).click()
    await page.get_by_text("2 of 2 raters are scripts").wait_for()
    text = await page.locator("#main").inner_text()
    assert all(system in text for system in SYSTEMS)


@pytest.mark.parametrize("form", ["webgpt", "minimal"])
async def test_pairs_are_compared_by_keyboard_and_with_every_part(
    open_page: OpenPage, service: Service, form: str
) -> None:
    study = add(service, form, systems=("alpha", "human"), share_required=1.0)
    page = await begin(open_page, service, study, "scripted 1")
    if form == "webgpt":
        await page.get_by_text("On this page, every part is required.").wait_for()
    await press_through(page, lambda name: "1")
    await page.get_by_text("1 of 2 pages judged").wait_for()
    await page.get_by_text("Flag the question").click()
    await (
        page.get_by_role("button", name="no sense")
        .or_(page.get_by_role("button", name="does not make sense"))
        .click()
    )
    await page.get_by_text("You have judged all pages.").wait_for()
    first, second = stored(service, study)
    assert (abs(first.comparison["overall"]), second.flag) == (2, "unclear")


@pytest.mark.parametrize("form", ["turing", "minimal", "instructgpt", "truthfulqa", "webglm", "webgpt"])
async def test_a_page_tells_nothing_of_the_system(service: Service, form: str) -> None:
    study = add(service, form)
    orders = set()
    for rater in map(str, range(6)):
        html = service.client.get(f"/studies/{study}?rater={rater}").text
        article = html[html.index("<article") : html.index("</article>")]
        assert not any(system in article for system in SYSTEMS)
        if form not in ("webglm", "webgpt"):
            assert "[1]" not in article
            assert "Passage" not in article
            assert article.count("href=") == 1  # that skips the page
        starts = [article.find(f"Some say reason {number}") for number in (1, 2, 3, 4)]
        orders.add(tuple(sorted(range(4), key=starts.__getitem__)))
    assert len(orders) > 1


async def test_who_fails_the_screening_test_goes_no_further(open_page: OpenPage, service: Service) -> None:
    study, items = study_of("turing", questions=QUESTIONS, screening=0)
    right = {"answers": [{"rank": rank} for rank in (1, 2, 3, 4)]}
    gold = [type(item)(**{**vars(item), "gold": right}) for item in items[:1]]
    screened = type(study)(**{**vars(study), "screening": 1, "passing": 1.0})
    in_store(service, lambda store: store.studies.add(screened, [*gold, *items[1:]]))
    page = await begin(open_page, service, study.id, "scripted careless")
    await press_through(page, lambda name: "1")
    await page.get_by_text("This study needs other raters.").wait_for()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", PHONE)], ids=["light", "dark"])
async def test_the_pages_have_no_fault(
    open_page: OpenPage, service: Service, scheme: str, viewport: dict[str, int]
) -> None:
    found: list[str] = []
    for form in ("webglm", "webgpt", "turing"):
        study = add(service, form)
        page = await open_page("/studies", url=service.url, color_scheme=scheme, viewport=viewport)
        for address in ("/studies", f"/studies/{study}", f"/studies/{study}?rater=scripted"):
            await page.goto(address)
            for details in await page.locator("main summary").all():
                await details.click()
            found += await faults(page)
            assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"], address
        await page.goto(f"/studies/{study}/results")
        found += await faults(page)
    assert found == []
    assert await page.evaluate("window.harmed") is None
