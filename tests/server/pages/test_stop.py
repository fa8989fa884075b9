"""Stop ends the work on a question within a second and keeps what was written; then it is asked again."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from aiohttp import web

from benchmarks.small_service import BATS
from tests.generator.chat_service import ChatService, Handler, chunk, streamed
from tests.server.api.conftest import Search, Service, serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, faults

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITTEN = "Bats find their way by echolocation[1]."


def pausing(goes_on: asyncio.Event) -> Handler:
    """Return a model that has written all of its answer, and ends it when it may go on."""

    async def pauses(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, chunk(WRITTEN))
        await goes_on.wait()
        await response.write(chunk("", finish="stop").encode())
        return response

    return pauses


async def is_over(service: Service, seconds: float) -> None:
    """Wait until the service works on no question, at most some seconds."""
    end = time.monotonic() + seconds
    while (await asyncio.to_thread(service.client.get, "/ready")).json()["running"]:
        assert time.monotonic() < end, "the work goes on"
        await asyncio.sleep(0.02)


async def test_a_question_that_runs_shows_its_stage_and_is_stopped(
    open_page: OpenPage, settings: Any, search: Search
) -> None:
    wanted = settings(search__providers="searxng", search__searxng_url=search.url, search__seconds=30)
    with serving(wanted) as service:
        page = await open_page("/", url=service.url)
        await page.get_by_label("Your question").fill("Why?")
        await page.keyboard.press("Enter")
        await page.locator('[data-stage="search"][data-state="now"]').wait_for()
        assert await page.locator("#status").inner_text() == "Searching…"
        await page.get_by_role("button", name="Stop").click()
        await page.locator("#status", has_text="Stopped.").wait_for()
        assert await page.locator("#result h1").inner_text() == "Why?"
        await is_over(service, 5)
        [asked] = service.client.get("/v1/answers").json()["answers"]
        assert asked["status"] == "cancelled"
        search.gate.set()
        await page.get_by_role("button", name="Ask again").click()
        await page.locator(".answer .none").wait_for()
        assert "No evidence" in await page.locator("#status").inner_text()


async def test_a_page_reloaded_meanwhile_shows_the_answer_and_keeps_the_next_question(
    open_page: OpenPage, settings: Any
) -> None:
    goes_on = asyncio.Event()
    async with ChatService([pausing(goes_on)]) as model:
        wanted = settings(generator__name="openai:tiny", generator__base_url=model.url, generator__key="none")
        with serving(wanted) as service:
            page = await open_page("/", url=service.url)
            await page.get_by_label("Your question").fill(BATS)
            await page.keyboard.press("Enter")
            await page.locator(".draft .prose", has_text="by echolocation").wait_for()
            assert "/answers/" in page.url
            await page.reload()
            await page.locator(".draft .prose", has_text="by echolocation").wait_for()
            field = page.get_by_label("Your question")
            await field.fill("How do they hear?")
            goes_on.set()
            await page.locator(".answer .citation").first.wait_for()
            assert await page.locator("#asked").inner_text() == BATS
            assert await field.input_value() == "How do they hear?"


async def test_what_was_written_stays_and_can_be_asked_again_or_edited(
    open_page: OpenPage, settings: Any
) -> None:
    goes_on = asyncio.Event()
    async with ChatService([pausing(goes_on)]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
            server__cache_seconds=0,
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url, color_scheme="dark", viewport=NARROW)
            await page.get_by_label("Your question").fill(BATS)
            await page.keyboard.press("Enter")
            await page.locator(".draft .prose", has_text="by echolocation").wait_for()
            await page.get_by_role("button", name="Stop").click()
            note = page.get_by_text("What was written so far is not checked.")
            await note.wait_for()
            await is_over(service, 5)
            assert "by echolocation" in await page.locator(".draft .prose").inner_text()
            assert not await page.locator("#progress").is_visible()
            assert await page.locator("#problem").inner_text() == ""
            assert await faults(page) == []
            await page.get_by_role("button", name="Edit the question").click()
            assert await page.get_by_label("Your question").input_value() == BATS
            goes_on.set()
            await page.get_by_role("button", name="Ask again").click()
            await page.locator(".answer[data-answer] .actions").wait_for()
            assert await page.locator("#asked").inner_text() == BATS
            assert await page.locator(".draft").count() == 0


async def test_a_question_of_the_history_that_was_stopped_is_asked_again(
    open_page: OpenPage, settings: Any, search: Search
) -> None:
    wanted = settings(search__providers="searxng", search__searxng_url=search.url, search__seconds=30)
    with serving(wanted) as service:
        page = await open_page("/", url=service.url)
        await page.get_by_label("Your question").fill("Why?")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Stop").click()
        await is_over(service, 5)
        search.gate.set()
        await page.goto("/history")
        await page.get_by_role("link", name="Why?").click()
        await page.get_by_text("The question was cancelled.").wait_for()
        await page.get_by_role("button", name="Ask again").click()
        await page.locator(".answer .none").wait_for()


async def test_what_was_written_stays_when_the_service_fails(open_page: OpenPage, settings: Any) -> None:
    async def breaks(request: web.Request) -> web.StreamResponse:
        response = await streamed(request, chunk(WRITTEN))
        await asyncio.sleep(0.5)
        assert request.transport is not None
        request.transport.abort()
        return response

    async with ChatService([breaks]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url)
            await page.get_by_label("Your question").fill(BATS)
            await page.keyboard.press("Enter")
            await page.locator("#problem:not(:empty)").wait_for()
            assert "by echolocation" in await page.locator(".draft .prose").inner_text()
            assert await page.get_by_role("button", name="Ask again").is_visible()
