"""Two answers to a question are compared, and what is said of them is stored as it was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio

from benchmarks.small_service import BATS
from citewell.core.settings import Settings
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.comparisons import StoredComparison
from citewell.server.store.database import ServiceStore
from citewell.server.store.ids import new_id
from citewell.server.store.rankings import StoredRanking
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import HARM, STORED, OpenPage, in_store
from tests.server.pages.test_accessibility import NARROW, WIDE, faults
from tests.server.pages.test_keys import add_key

pytestmark = pytest.mark.asyncio(loop_scope="session")

QUESTIONS = (f"Why is {HARM}\r\nthe sky blue?", "Why is the sea salty?")


def answer(question: str, text: str, outcome: str = "answered", key_id: str | None = None) -> StoredAnswer:
    sentence = {"text": text, "citations": [1], "support": 1.0, "supported": True}
    body = STORED | {"answer": text, "sentences": [sentence], "outcome": outcome, "question": question}
    return StoredAnswer(
        new_id(), key_id, question, "answer", "done", datetime.now(UTC), 0.3, body, None, {"best_of": 7}
    )


async def add(store: ServiceStore) -> None:
    for question in QUESTIONS:
        for text in ("Long ago.", f"Dust {HARM}.", "Light scatters.", "Light scatters."):
            await store.answers.add(answer(question, text))
    await store.answers.add(answer("Asked twice?", "The same."))
    await store.answers.add(answer("Asked twice?", "The  same."))
    await store.answers.add(answer("Asked twice?", "No evidence.", "no_evidence"))


async def stored(store: ServiceStore) -> list[StoredComparison]:
    return [each async for each in store.comparisons.each()]


async def stored_rankings(store: ServiceStore) -> list[StoredRanking]:
    return [each async for each in store.rankings.each()]


@contextmanager
def with_pairs(settings: Callable[..., Settings]) -> Iterator[Service]:
    """A service in whose history two questions have two answers or more that differ."""
    with serving(settings(server__cache_seconds=0)) as service:
        in_store(service, add)
        yield service


@pytest.fixture(scope="module")
def service(settings: Callable[..., Settings]) -> Iterator[Service]:
    """One service for all tests that store no comparison."""
    with with_pairs(settings) as service:
        yield service


@pytest_asyncio.fixture(loop_scope="session")
async def page(open_page: OpenPage, service: Service) -> Any:
    return await open_page("/compare", url=service.url)


def texts_of(opinion: StoredComparison | StoredRanking) -> list[str]:
    return [each["text"] for each in opinion.answers]


async def shown(page: Any) -> list[str]:
    return list(await page.locator(".pair .words").all_inner_texts())


async def test_all_pairs_are_compared(open_page: OpenPage, settings: Callable[..., Settings]) -> None:
    with with_pairs(settings) as service:
        await compare_all(await open_page("/compare", url=service.url), service)


async def compare_all(page: Any, service: Service) -> None:
    assert "0 of 2 questions compared" in await page.locator("#main").inner_text()
    assert "the sea salty" in await page.locator("#judged-question").inner_text()
    first = await shown(page)
    assert sorted(first) == [f"Dust {HARM}.", "Light scatters."]
    for scale, level in (
        ("Supported information", "A much better"),
        ("Usefulness of the facts", "B better"),
        ("Coherence", "Equally good"),
        ("Overall", "A better"),
    ):
        await page.get_by_role("group", name=scale).get_by_label(level, exact=True).check()
    await page.get_by_label("Comment").fill("123 jks: it is short.")
    await page.get_by_role("button", name="Store").click()
    await page.get_by_text("Thank you. Saved.").wait_for()
    assert "1 of 2 questions compared" in await page.locator("#main").inner_text()
    assert await page.evaluate("document.activeElement.id") == "judged-question"

    second = await shown(page)
    await page.get_by_text("Rate the sources and sentences of answer B").click()
    await page.get_by_role("group", name="Trust in source 1").get_by_label("Low").check()
    await page.get_by_role("group", name="Relevance of sentence 1").get_by_label("Answers").check()
    await page.get_by_text("Rate the sources and sentences of answer B").click()  # no step of the keyboard
    await page.locator("#judged-question").focus()
    for key in "j3k4511":
        await page.keyboard.press(key)
    assert await page.evaluate("document.activeElement.textContent") == "Store"
    for key in ("k", "2", "Enter"):
        await page.keyboard.press(key)
    await page.get_by_text("You have compared all pairs.").wait_for()

    mouse, keys = in_store(service, stored)
    assert mouse.ratings == {"unsupported": -2, "usefulness": 1, "coherence": 0, "overall": -1}
    assert (mouse.question, texts_of(mouse), mouse.comment) == (QUESTIONS[1], first, "123 jks: it is short.")
    assert mouse.answers[0]["references"] == [reference["text"] for reference in STORED["references"]]
    assert keys.ratings == {"unsupported": 1, "usefulness": 2, "coherence": -2, "overall": -1}
    assert (keys.question, texts_of(keys)) == (QUESTIONS[0], second)
    assert [set(each) & {"trust", "claims"} for each in keys.answers] == [set(), {"trust", "claims"}]
    assert keys.answers[1]["trust"] == [{"reference": 1, "trust": "low"}]
    (claim,) = keys.answers[1]["claims"]
    assert (claim["text"], claim["support"], claim["relevance"]) == (second[1], None, "core")


async def test_a_question_is_flagged(open_page: OpenPage, settings: Callable[..., Settings]) -> None:
    with with_pairs(settings) as service:
        page = await open_page("/compare", url=service.url)
        await page.get_by_text("Flag the question").click()
        await page.get_by_role("button", name="It should not be answered").click()
        await page.get_by_text("Thank you. Saved.").wait_for()
        assert "1 of 2 questions compared" in await page.locator("#main").inner_text()
        (flagged,) = in_store(service, stored)
    assert (flagged.question, flagged.flag, flagged.ratings) == (QUESTIONS[1], "unsuitable", {})


async def test_more_answers_are_ranked_with_ties(
    open_page: OpenPage, settings: Callable[..., Settings]
) -> None:
    with with_pairs(settings) as service:
        page = await open_page("/compare", url=service.url)
        await page.get_by_role("link", name=QUESTIONS[1]).click()
        await page.wait_for_url("**/compare/*")  # with its scripts
        texts = await page.locator(".ranked .words").all_inner_texts()
        assert sorted(texts) == [f"Dust {HARM}.", "Light scatters.", "Long ago."]
        await page.get_by_role("group", name="Rank of answer B").get_by_label("1 (best)").check()
        await page.get_by_label("Comment").fill("Two are as bad.")
        await page.locator("h1").click()
        for key in "2j2":
            await page.keyboard.press(key)
        await page.keyboard.press("Enter")
        await page.get_by_text("Thank you. Saved.").wait_for()
        assert "ranked" in await page.locator(".history li").first.inner_text()
        assert "0 of 2 questions compared" in await page.locator("#main").inner_text()
        [ranking] = in_store(service, stored_rankings)
    assert (ranking.question, ranking.comment) == (QUESTIONS[1], "Two are as bad.")
    assert dict(zip(texts_of(ranking), ranking.ranks, strict=True)) == dict(
        zip(texts, (2, 1, 2), strict=True)
    )


async def test_a_key_compares_its_own_answers_and_admin_those_of_all(
    settings: Callable[..., Settings],
) -> None:
    with serving(settings()) as service:
        one, other, admin = (add_key(service, *scopes) for scopes in (["ask"], ["ask"], ["ask", "admin"]))

        async def add_own(store: ServiceStore) -> None:
            for text in ("Mine.", "Mine too.", "Also mine."):
                await store.answers.add(answer("Whose?", text, key_id=one.key.id))

        in_store(service, add_own)
        for made, text, status in (
            (one, "0 of 1 question compared", 200),
            (admin, "0 of 1 question compared", 200),
            (other, "No question in the", 404),
        ):
            headers = {"Authorization": f"Bearer {made.secret}"}
            found = service.client.get("/compare", headers=headers).text
            assert text in found
            assert ("Mine too." in found) == (status == 200)
            newest = in_store(service, lambda store: store.answers.page(None, 1))[0].id
            assert service.client.get(f"/compare/{newest}", headers=headers).status_code == status


async def test_keys_rest_while_a_text_is_written_and_where_they_are_not_wanted(page: Any) -> None:
    for name in ("comment", "question"):
        field = page.locator(f"textarea[name={name}]")
        await field.focus()
        await page.keyboard.type("12s")
        assert await field.input_value() == "12s"
    assert await page.locator(".scale :checked").count() == 0
    await page.locator("#shortcuts summary").click()
    await page.get_by_label("Enabled").uncheck()
    await page.keyboard.press("1")
    assert await page.locator(".scale :checked").count() == 0
    await page.get_by_label("Enabled").check()
    await page.keyboard.press("Control+1")
    await page.keyboard.press("1")
    assert await page.locator(".scale :checked").count() == 1


async def test_a_pair_is_left_out_for_now(page: Any) -> None:
    await page.keyboard.press("s")
    await page.get_by_role("heading", name="the sky blue?").wait_for()
    await page.get_by_role("link", name="Skip this pair").click()
    await page.get_by_role("heading", name="the sea salty?").wait_for()


async def test_a_pair_is_blind_shuffled_and_text(page: Any) -> None:
    seen = set()
    for _ in range(40):
        seen.add(tuple(await shown(page)))
        if len(seen) == 2:
            break
        await page.reload()
    assert len(seen) == 2
    html = await page.locator("article").inner_html()
    assert "best_of" not in html
    assert "<time" not in html
    assert await page.locator("article img, article script, article b").count() == 0
    assert await page.evaluate("window.harmed") is None


async def test_a_new_pair_is_made_by_asking_twice(page: Any) -> None:
    await page.get_by_label("Question", exact=True).fill(BATS)
    await page.get_by_label("The second answer").select_option("is the best of four candidates")
    await page.get_by_role("button", name="Answer twice").click()
    await page.get_by_text("Both answers are the same.").wait_for()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_the_page_has_no_fault(
    open_page: OpenPage, service: Service, scheme: str, viewport: dict[str, int]
) -> None:
    page = await open_page("/compare", url=service.url, color_scheme=scheme, viewport=viewport)
    for details in await page.locator("summary").all():
        await details.click()
    await page.keyboard.press("2")
    assert await faults(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    await page.get_by_role("link", name=QUESTIONS[1]).click()
    await page.get_by_role("group", name="Rank of answer A").wait_for()
    assert await faults(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
