"""The history by day, its deletion, the settings of a reader, and an address that does not exist."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from benchmarks.small_service import BATS
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.ids import new_id
from tests.server.api.conftest import Service, serving
from tests.server.pages.conftest import OpenPage, in_store
from tests.server.pages.test_accessibility import NARROW, WIDE, faults

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_questions_are_listed_by_day_and_deleted(open_page: OpenPage, settings: Any) -> None:
    with serving(settings()) as service:
        for question in (BATS, "Who won the football match?"):
            await asyncio.to_thread(service.ask, question)
        page = await open_page("/history", url=service.url, color_scheme="dark", viewport=NARROW)
        day = page.locator(".day")
        assert await day.count() == 1
        first, second = await day.locator("li").all()
        assert "No evidence" in await first.inner_text()
        assert "No evidence" not in await second.inner_text()
        assert "the collection notes" in await second.inner_text()
        assert await faults(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
        delete = first.get_by_role("button")
        await delete.click()
        assert await delete.inner_text() == "Really delete?"
        assert await first.get_by_role("button", name="Really delete?").count() == 1, "as it is read out"
        await delete.click()
        await page.get_by_text("football").wait_for(state="detached")
        assert await page.locator(".history li").count() == 1
        assert [each["question"] for each in service.client.get("/v1/answers").json()["answers"]] == [BATS]


async def test_a_question_belongs_to_the_day_of_its_reader(open_page: OpenPage, settings: Any) -> None:
    with serving(settings()) as service:
        for hour in (22, 23):  # half past eleven in Berlin, and half past midnight
            asked = datetime.fromisoformat(f"2026-03-01T{hour}:30Z")
            answer = StoredAnswer(
                new_id(), None, f"At {hour}?", "answer", "failed", asked, 1.0, None, None, {}
            )
            in_store(service, lambda store, answer=answer: store.answers.add(answer))
        page = await open_page("/history", url=service.url, timezone_id="Europe/Berlin", locale="en-GB")
        for day, question in (("2 March 2026", "At 23?"), ("1 March 2026", "At 22?")):
            questions = page.get_by_role("region", name=day).get_by_role("listitem").get_by_role("link")
            assert await questions.all_inner_texts() == [question]
        assert await page.locator(".day time").all_inner_texts() == ["00:30", "23:30"]
        assert "1 March 2026, 22:30 UTC" in service.client.get("/history").text  # without scripts


async def test_a_reader_chooses_the_theme_and_the_language(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/settings", color_scheme="light", viewport=WIDE)
    assert "None: answers are quotations." in await page.locator(".facts").inner_text()
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    light = await page.evaluate(ground)
    await page.get_by_label("Theme").select_option("Dark")
    assert await page.evaluate(ground) != light
    assert await faults(page) == []
    await page.get_by_label("Language").select_option("Deutsch")
    await page.get_by_role("heading", name="Einstellungen").wait_for()
    assert await page.locator("html").get_attribute("lang") == "de"
    await page.get_by_role("link", name="Fragen", exact=True).click()
    await page.get_by_role("heading", name="Was möchten Sie wissen?").wait_for()
    await page.get_by_label("Ihre Frage").fill(BATS)
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="Nicht hilfreich").wait_for()
    assert await page.get_by_role("heading", name="Quellen").count() == 1
    assert await page.get_by_text("Durchsucht: die Sammlung notes").count() == 1
    assert await page.locator("#asked").inner_text() == BATS
    assert await faults(page) == []
    assert await page.evaluate(ground) != light
    await page.goto("/history")
    await page.get_by_role("heading", name="Verlauf").wait_for()
    assert await faults(page) == []
    await page.goto("/collections")
    await (
        page.get_by_text("Um eine Sammlung zu durchsuchen")
        .or_(page.get_by_text("aus der Sammlung"))
        .wait_for()
    )
    assert await page.get_by_role("link", name="notes").count() == 1  # a name is not translated


async def test_an_address_that_does_not_exist_is_a_page_for_people(
    open_page: OpenPage, service: Service
) -> None:
    page = await open_page("/nothing", expected="404")
    await page.get_by_role("heading", name="This page does not exist").wait_for()
    assert await faults(page) == []
    assert service.client.get("/nothing").headers["content-type"] == "application/problem+json"
    browser = {"Accept": "text/html"}
    answer = service.client.get("/v1/nothing", headers=browser)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_the_menu_of_a_phone_is_one_line_that_shows_where_one_is(open_page: OpenPage) -> None:
    page = await open_page("/settings", viewport=NARROW)
    menu = page.locator(".top")
    box = await menu.locator("nav").bounding_box()
    assert box["height"] < 60
    current = await menu.locator("[aria-current]").bounding_box()
    assert box["x"] <= current["x"] < box["x"] + box["width"]
