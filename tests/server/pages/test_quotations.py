"""Quotations first, then the written answer in their place: with a model that waits for the test."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web

from benchmarks.small_service import BATS
from tests.generator.chat_service import ChatService, chunk, streamed, yes_or_no
from tests.server.api.conftest import serving
from tests.server.pages.conftest import OpenPage

pytestmark = pytest.mark.asyncio(loop_scope="session")

WRITTEN = "Bats find their way by echolocation[1]."
INVENTED = "Penguins sell small lanterns[1]."


@pytest.mark.parametrize("text", [WRITTEN, INVENTED, "The references do not say."])
async def test_quotations_are_shown_until_the_answer_is_written(
    open_page: OpenPage, settings: Any, text: str
) -> None:
    may_write = asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        await may_write.wait()
        return await streamed(request, chunk(text), chunk("", finish="stop"))

    async with ChatService([waits]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
            server__cache_seconds=0,
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url)
            await page.get_by_label("Your question").fill(BATS)
            await page.keyboard.press("Enter")
            quotation = page.locator(".draft .quotations blockquote").first
            await quotation.wait_for()
            assert "echolocation" in await quotation.inner_text()
            assert "[1]" in await quotation.inner_text()
            may_write.set()
            await page.locator(".answer[data-answer] .actions").wait_for()
            assert await page.locator(".draft").count() == 0
            note = page.locator("#fallback")
            folded = page.locator("#quotations")
            shown = await page.locator(".prose").inner_text()
            if text == WRITTEN:
                assert "Bats find their way by echolocation." in shown
                assert not await folded.locator("blockquote").first.is_visible()
                await folded.locator("summary").click()
                assert await folded.locator("blockquote").first.is_visible()
                assert await note.count() == 0
            elif text == INVENTED:
                assert "these are quotations" in await note.inner_text()
                assert "echolocation" in shown
                assert "lanterns" not in shown
                assert await folded.count() == 0
            else:
                assert "found no answer" in await note.inner_text()
                assert "No sure answer" in shown


@pytest.mark.parametrize(
    ("yes", "question"), [(0.9, BATS), (0.1, BATS), (0.1, "How long do bats live in the dark?")]
)
async def test_what_the_model_does_not_find_supported_is_not_shown(
    open_page: OpenPage, settings: Any, yes: float, question: str
) -> None:
    async def writes_and_judges(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        if body.get("logprobs"):
            answers = body["messages"][-1]["content"].startswith("Page: ")
            return web.json_response(yes_or_no(max(yes, 0.8) if answers else yes))
        second = " In the dark, bats listen to echoes of [1] their own calls."
        return await streamed(request, chunk(WRITTEN + second), chunk("", finish="stop"))

    async with ChatService([writes_and_judges]) as model:
        wanted = settings(
            generator__name="openai:tiny",
            generator__base_url=model.url,
            generator__key="none",
            citations__judge="writer",
            server__cache_seconds=0,
        )
        with serving(wanted) as service:
            page = await open_page("/", url=service.url)
            await page.get_by_label("Your question").fill(question)
            await page.keyboard.press("Enter")
            await page.locator(".answer[data-answer] .actions").wait_for()
            shown = await page.locator(".prose").inner_text()
            quotation = page.locator("#quotations blockquote").first
            if yes > 0.5:
                assert "echoes of their own calls" in shown
                assert not await quotation.is_visible()
            elif question == BATS:
                # The model and the reader of sentences find that this one answers.
                assert "by echolocation" in shown
                assert "these are quotations" in await page.locator("#fallback").inner_text()
                assert await page.get_by_text("their own calls").count() == 0
            else:
                assert "No sure answer" in shown
                assert "so it is not shown" in await page.locator("#fallback").inner_text()
                assert await quotation.is_visible()
                assert await page.get_by_text("their own calls").count() == 0
