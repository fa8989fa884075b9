"""A conversation on the page: follow-up questions, and to name, export and delete it."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Search, Service, serving
from tests.server.pages.conftest import OpenPage
from tests.server.pages.test_accessibility import NARROW, WIDE, faults
from tests.server.pages.test_ask import ask
from tests.server.pages.test_keys import add_key

pytestmark = pytest.mark.asyncio(loop_scope="session")

FOLLOW_UP = "What do they send out?"


async def follow_up(page: Any, question: str = FOLLOW_UP) -> None:
    """Ask a follow-up question, and wait for its answer."""
    await page.get_by_label("Ask a follow-up").fill(question)
    await page.keyboard.press("Enter")
    await page.locator("#asked", has_text=question).wait_for()
    await page.locator(".answer[data-answer] .actions").wait_for()


async def test_a_follow_up_stands_below_what_it_follows(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/")
    first = await ask(page)
    await follow_up(page)
    assert page.url.endswith(f"/threads/{first}")
    assert await page.locator("#rewritten").inner_text() == "Answered as: What do bats send out?"
    assert "short calls" in await page.locator(".answer .prose").first.inner_text()
    earlier = page.get_by_role("region", name="Earlier in this conversation")
    assert BATS in await earlier.inner_text()
    assert "echolocation" in await earlier.inner_text()
    assert "[1]" in await earlier.inner_text()
    assert await page.evaluate("document.activeElement.id") == "asked"
    assert "all supported" in await page.locator("#status").inner_text()
    await page.locator(".answer .citation").first.hover()
    await page.locator(".panel.open").wait_for()
    await follow_up(page, "How do they hear?")
    assert await page.locator(".turns li").count() == 2
    await page.reload()
    assert await page.locator(".turns .asked").all_inner_texts() == [BATS, FOLLOW_UP]
    await page.get_by_role("link", name=FOLLOW_UP).click()
    await page.wait_for_url("**/answers/*")
    assert await page.locator(".turns .asked").all_inner_texts() == [BATS]
    assert await page.locator("#asked").inner_text() == FOLLOW_UP


async def test_a_conversation_is_named_exported_and_deleted(open_page: OpenPage) -> None:
    page = await open_page("/", expected="404")
    await ask(page)
    await follow_up(page)
    await page.get_by_text("This conversation").click()
    await page.get_by_label("Name").fill("Ears in the dark")
    await page.get_by_role("button", name="Rename").click()
    await page.get_by_text("Renamed.").wait_for()
    assert await page.title() == "Ears in the dark · Citewell"
    assert await page.locator("#thread-tools .permalink").inner_text() == "Ears in the dark"
    for name, begins in (("Markdown", "# Ears in the dark"), ("JSON", '{"id":')):
        async with page.expect_download() as download:
            await page.get_by_role("button", name=f"Export as {name}").click()
        assert (await (await download.value).path()).read_text("utf-8").startswith(begins)
    address = page.url
    await page.reload()
    assert await page.title() == "Ears in the dark · Citewell"
    await page.get_by_text("This conversation").click()
    await page.get_by_role("button", name="Delete the conversation").click()
    await page.get_by_role("button", name="Really delete?").click()
    await page.wait_for_url("**/history")
    await page.goto(address.replace("/threads/", "/answers/"))
    assert "does not exist" in await page.locator("main").inner_text()


async def test_a_follow_up_is_stopped_and_the_answer_stays(
    open_page: OpenPage, settings: Any, search: Search
) -> None:
    search.gate.set()
    wanted = settings(search__providers="searxng", search__searxng_url=search.url, search__seconds=30)
    with serving(wanted) as service:
        page = await open_page("/", url=service.url)
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        await page.locator(".answer .none").wait_for()
        search.gate.clear()
        await page.get_by_label("Ask a follow-up").fill(FOLLOW_UP)
        await page.keyboard.press("Enter")
        await page.locator("#next .about", has_text="Answered as: What do bats send out?").wait_for()
        await page.get_by_role("button", name="Stop").click()
        await page.locator("#status", has_text="Stopped.").wait_for()
        assert await page.locator("#asked").inner_text() == BATS
        search.gate.set()
        await page.locator("#next").get_by_role("button", name="Ask again").click()
        await page.locator("#asked", has_text=FOLLOW_UP).wait_for()
        assert await page.locator(".turns .asked").first.inner_text() == BATS
        await page.get_by_label("Your question").fill("Why?")
        await page.keyboard.press("Enter")
        await page.locator("#asked", has_text="Why?").wait_for()
        assert await page.locator(".turns").count() == 0


async def test_a_conversation_needs_its_key(open_page: OpenPage, settings: Any) -> None:
    with serving(settings()) as service:
        made = add_key(service, "ask")
        page = await open_page("/history", url=service.url, expected="401")
        dialog = page.get_by_role("dialog", name="API key required")
        await dialog.get_by_label("Key").fill(made.secret)
        await dialog.get_by_role("button", name="Use this key").click()
        await page.get_by_text("No questions yet.").wait_for()
        await page.goto("/")
        await page.get_by_label("Your question").fill(BATS)
        await page.keyboard.press("Enter")
        await page.locator(".answer[data-answer] .actions").wait_for()
        await follow_up(page)
        await page.get_by_text("This conversation").click()
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Export as Markdown").click()
        assert BATS in (await (await download.value).path()).read_text("utf-8")


@pytest.mark.parametrize(("scheme", "viewport"), [("light", WIDE), ("dark", NARROW)], ids=["light", "dark"])
async def test_a_conversation_has_no_fault(
    open_page: OpenPage, scheme: str, viewport: dict[str, int]
) -> None:
    page = await open_page("/", color_scheme=scheme, viewport=viewport)
    await ask(page)
    await follow_up(page)
    await page.get_by_text("This conversation").click()
    assert await faults(page) == []
    assert await page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
