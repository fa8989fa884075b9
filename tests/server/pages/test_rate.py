"""Answers and their references are judged on WebGLM's scales, and the results stand in a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.store.ratings import StoredRating
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import HARM, OpenPage, in_store
from tests.server.pages.test_accessibility import NARROW, WIDE, faults
from tests.server.pages.test_compare import answer

pytestmark = pytest.mark.asyncio(loop_scope="session")

ANSWER = {"fluency": 3, "correctness": 2, "citations": 1, "objectivity": 1, "redundancy": 0}
REFERENCE = {"relevancy": 3, "density": 2, "truthfulness": 1, "toxicity": 0, "bias": 0}


@pytest.fixture
def old() -> StoredAnswer:
    return answer(f"Why is {HARM} the sky blue?", "Light scatters.")


@pytest.fixture
def service(settings: Callable[..., Settings], old: StoredAnswer) -> Iterator[Service]:
    with serving(settings()) as service:
        in_store(service, lambda store: store.answers.add(old))
        yield service


async def ratings(store: ServiceStore) -> list[StoredRating]:
    return [each async for each in store.ratings.each()]


async def choose(page: Any, part: str, scores: dict[str, int]) -> None:
    for name, score in scores.items():
        await page.locator(f'[name="{part}.{name}"][value="{score}"]').check()


async def test_an_answer_is_judged_by_two_who_agree_in_part(
    open_page: OpenPage, service: Service, old: StoredAnswer
) -> None:
    page = await open_page("/rate", url=service.url)
    await page.get_by_label("Your name").fill("Ada  L")
    await page.get_by_role("button", name="Begin").click()
    await page.wait_for_url("**/rate?rater=*")  # with its scripts
    assert "0 of 1 answer rated" in await page.locator("#main").inner_text()
    await choose(page, "answer", ANSWER)
    for part in range(3):
        await choose(page, f"references.{part}", REFERENCE)
    await page.get_by_role("button", name="Store").click()
    await page.get_by_text("You have rated all answers.").wait_for()
    stored = in_store(service, ratings)
    assert {each.rater for each in stored} == {"name Ada L"}
    assert [(each.kind, each.item, each.scores) for each in stored] == [
        ("answer", old.id, ANSWER),
        *(("reference", f"{old.id}#{number}", REFERENCE) for number in (1, 2, 3)),
    ]

    judged = {"answer": ANSWER | {"fluency": 1, "truthfulness": 0}, "references": [REFERENCE] * 3}
    made = service.client.post(f"/v1/answers/{old.id}/ratings", json=judged | {"rater": "Bob"})
    assert made.status_code == 201
    await page.get_by_role("link", name="Results of all ratings").click()
    answers = page.get_by_role("region", name="Answers")
    await answers.wait_for()
    model, agreement = [row.split("\t") for row in (await answers.inner_text()).split("\n")[-2:]]
    assert model == [HARM, "2.000", "2.000", "1.000", "1.000", "0.000", "0.000", "2"]
    assert agreement[:3] == ["Agreement", "0.00", "–"]


async def test_scores_are_checked(service: Service, old: StoredAnswer) -> None:
    changes: tuple[dict[str, Any], ...] = (
        {"references": []},
        {"answer": ANSWER | {"fluency": 4}},
        {"answer": ANSWER | {"beauty": 1}},
        {"answer": {"fluency": 1}},
        {"references": [REFERENCE, REFERENCE, REFERENCE | {"bias": -1}]},
    )
    for change in changes:
        body = {"answer": ANSWER, "references": [REFERENCE] * 3, "rater": "Ada"} | change
        reply = service.client.post(f"/v1/answers/{old.id}/ratings", json=body)
        assert reply.status_code == 400, change
    assert in_store(service, ratings) == []


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_the_pages_have_no_fault(
    open_page: OpenPage, service: Service, old: StoredAnswer, scheme: str, viewport: dict[str, int]
) -> None:
    page = await open_page("/rate", url=service.url, color_scheme=scheme, viewport=viewport)
    found = await faults(page)
    body = {"answer": ANSWER, "references": [REFERENCE] * 3, "rater": "Bob"}
    assert service.client.post(f"/v1/answers/{old.id}/ratings", json=body).status_code == 201
    for address in ("/rate?rater=Ada", "/rate/results"):
        await page.goto(address)
        found += await faults(page)
        assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
        assert await page.locator("main img").count() == 0
    assert found == []
