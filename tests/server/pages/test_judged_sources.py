"""On every page with several answers, a mark leads to the source of its own answer, and the source opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from citewell.core.settings import Settings
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.studies.answers import answer_of_text, numbered_references
from citewell.server.studies.forms.catalog import form_named
from citewell.server.studies.making import StudyPlan, drafted, planned
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import OpenPage, in_store

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTION = "Why is the sky blue?"
NAMES = ("one", "two", "three")


def references(name: str) -> list[dict[str, Any]]:
    return [
        {"number": number, "url": f"https://{name}.example/{number}", "title": f"{name} {number}"}
        | {"text": f"Passage {number} of {name}.", "score": 1.0}
        for number in (1, 2)
    ]


def answered(name: str) -> StoredAnswer:
    sentences = [
        {"text": f"{name} says {number}.", "citations": [number], "support": 1.0, "supported": True}
        for number in (1, 2)
    ]
    body = {
        "outcome": "answered",
        "answer": f"{name} says 1. [1] {name} says 2. [2]",
        "sentences": sentences,
        "references": references(name),
        "models": {"generator": name},
    }
    return StoredAnswer(new_id(), None, QUESTION, "answer", "done", datetime.now(UTC), 0.1, body, None, {})


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    async def add(store: ServiceStore) -> None:
        for name in NAMES:
            await store.answers.add(answered(name))

    with serving(settings()) as service:
        in_store(service, add)
        yield service


def study(service: Service, form_name: str) -> str:
    answers = [
        answer_of_text(
            QUESTION, name, f"{name} says 1 [1]. {name} says 2 [2].", numbered_references(references(name))
        )
        for name in NAMES
    ]
    form = form_named(form_name)
    made, items = planned(StudyPlan(name="A study", form=form), drafted(answers, form))
    in_store(service, lambda store: store.studies.add(made, items))
    return f"/studies/{made.id}?rater=Ada"


@pytest.mark.parametrize("kind", ["compare", "rank", "webgpt", "webglm"])
async def test_each_mark_leads_to_a_source_of_its_answer_that_opens(
    open_page: OpenPage, service: Service, kind: str
) -> None:
    if kind == "rank":
        newest = in_store(service, lambda store: store.answers.page(None, 1))[0].id
        address = f"/compare/{newest}"
    else:
        address = "/compare" if kind == "compare" else study(service, kind)
    page = await open_page(address, url=service.url)
    ids = await page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
    assert len(ids) == len(set(ids))
    sentences = page.locator("#judging .sentence")
    assert await sentences.count() == (4 if kind in ("compare", "webgpt") else 6)
    for sentence in await sentences.all():
        words = (await sentence.locator(".words").inner_text()).rstrip(".")
        name, _, number = words.split()
        await sentence.locator(".citation").click()
        source = page.locator(":target")
        assert await page.evaluate("document.activeElement.matches(':target')")
        link = source.get_by_role("link")
        assert await link.inner_text() == f"{name} {number}"
        assert await link.get_attribute("href") == f"https://{name}.example/{number}"
    await page.context.route("https://*.example/*", lambda route: route.fulfill(body="The source."))
    link = (
        page.locator("#judging")
        .get_by_role("link", name="one 1")
        .or_(page.locator("#judging").get_by_role("link", name="two 1"))
    )
    await link.first.click()
    await page.wait_for_url("https://*.example/1")
