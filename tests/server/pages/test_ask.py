"""From a question to the verdict on its answer, with the mouse, with keys, and without scripts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from benchmarks.small_service import BATS
from tests.server.api.conftest import Service
from tests.server.pages.conftest import HARM, OpenPage, in_store

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def ask(page: Any, question: str = BATS) -> str:
    """Ask on the page; returns the id of the answer."""
    await page.get_by_label("Your question").fill(question)
    await page.keyboard.press("Enter")
    await page.locator(".answer[data-answer] .actions").wait_for()
    return str(await page.locator(".answer").get_attribute("data-answer"))


async def test_from_a_question_to_a_thumb(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/")
    answer_id = await ask(page)
    assert page.url.endswith(f"/answers/{answer_id}")
    assert "all supported" in await page.locator("#status").inner_text()
    sentence = page.locator(".sentence").first
    assert "echolocation" in await sentence.inner_text()
    await sentence.locator(".citation").first.hover()
    panel = page.locator(".panel.open")
    await panel.wait_for()
    marked = await panel.locator("mark").all_inner_texts()
    assert any("echolocation" in words for words in marked)
    assert "in the" not in marked
    assert "active" in str(await sentence.get_attribute("class"))
    assert "notes.example" in await page.locator(".source").first.inner_text()
    await page.get_by_role("button", name="Helpful", exact=True).click()
    await page.get_by_text("Saved.").wait_for()
    await page.get_by_label("Comment").fill("It names the word.")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_label("Comment").wait_for(state="hidden")
    thumb, comment = in_store(service, lambda store: store.feedback.of_answer(answer_id))
    assert (thumb.thumb, thumb.sentence) == (1, None)
    assert (comment.thumb, comment.comment) == (0, "It names the word.")
    helpful = page.get_by_role("button", name="Helpful", exact=True, pressed=True)
    await page.reload()
    await helpful.click()  # takes it back
    await page.get_by_text("Saved.").wait_for()
    assert await helpful.count() == 0
    await page.reload()
    assert await page.get_by_role("button", pressed=True).count() == 0
    await page.go_back()
    await page.get_by_role("heading", name="What would you like to know?").wait_for()


async def test_a_sentence_is_reported_with_keys_alone(open_page: OpenPage, service: Service) -> None:
    page = await open_page("/")
    answer_id = await ask(page)
    citation = page.locator(".citation").first
    for _ in range(8):
        await page.keyboard.press("Tab")
        if await citation.evaluate("link => link === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    assert await page.evaluate("document.activeElement.id") == "panel"
    await page.keyboard.press("Escape")
    assert await citation.evaluate("link => link === document.activeElement")
    await page.keyboard.press("Enter")
    report = page.get_by_role("button", name="This sentence is not supported")
    for _ in range(4):
        await page.keyboard.press("Tab")
        if await report.evaluate("button => button === document.activeElement"):
            break
    await page.keyboard.press("Enter")
    await page.get_by_text("You said: not supported.").wait_for()
    [feedback] = in_store(service, lambda store: store.feedback.of_answer(answer_id))
    assert (feedback.thumb, feedback.sentence) == (0, 0)
    await page.reload()
    await page.locator(".sentence.reported .citation").first.click()
    await page.get_by_text("You said: not supported.").wait_for()


async def test_an_answer_is_copied_as_text_as_markdown_and_as_a_link(open_page: OpenPage) -> None:
    page = await open_page("/", permissions=["clipboard-read", "clipboard-write"])
    await ask(page)

    async def copied(button: str) -> str:
        await page.evaluate("navigator.clipboard.writeText('')")
        await page.get_by_role("button", name=button, exact=True).click()
        await page.wait_for_function("async () => await navigator.clipboard.readText() !== ''")
        return str(await page.evaluate("navigator.clipboard.readText()"))

    text = await copied("Copy")
    assert await page.get_by_text("Copied.").count() == 1
    assert text.startswith(f"{BATS}\n\nBats find their way")
    assert " [1]" in text
    assert text.endswith(f"\n\n[1] Bats {HARM}, https://notes.example/0\n")
    assert await copied("Copy the link") == page.url
    await page.get_by_text("Export", exact=True).click()
    markdown = await copied("Copy as Markdown")
    assert markdown.startswith(f"**{BATS}**\n\nBats find their way")
    assert "[^1]: [Bats \\<img" in markdown
    assert "](<https://notes.example/0>), notes.example" in markdown


async def test_what_cannot_be_copied_is_selected(open_page: OpenPage) -> None:
    page = await open_page("/")
    await ask(page)
    await page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    for button in ("Copy", "Copy the link"):
        await page.get_by_role("button", name=button, exact=True).click()
        await page.get_by_text("Copy the text below.").wait_for()
        selected = (await page.evaluate("String(getSelection())")).strip()
        assert selected == page.url if button == "Copy the link" else selected.startswith(BATS)
        assert await page.locator(".copied:visible").count() == 1


async def test_an_answer_is_printed_with_its_sources_and_without_buttons(open_page: OpenPage) -> None:
    page = await open_page("/", color_scheme="dark")
    await ask(page)
    await page.emulate_media(media="print")
    for hidden in ("header", "#ask", "#follow", ".actions", "#panel", "#timings", "#thread-tools"):
        assert not await page.locator(hidden).first.is_visible(), hidden
    assert await page.locator(".prose").is_visible()
    assert await page.locator(".sources .excerpt").first.is_visible()
    address = "getComputedStyle(document.querySelector('.sources h3 a'), '::after').content"
    assert "https://notes.example/0" in await page.evaluate(address)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    assert await page.evaluate(ground) == "rgb(252, 251, 248)"  # light, whatever the screen has


async def test_the_answer_to_a_question_is_asked_for_again_or_the_question_edited(
    open_page: OpenPage, service: Service
) -> None:
    page = await open_page("/")
    first = await ask(page)
    await page.get_by_role("button", name="Ask again").click()
    await page.wait_for_url(lambda url: not url.endswith(first))
    await page.locator("#status", has_text="Answered in").wait_for()
    await page.locator(".answer[data-answer] .actions").wait_for()
    assert await page.locator("#asked").inner_text() == BATS
    again = service.client.get(f"/v1/answers/{page.url.rpartition('/')[2]}").json()
    assert again["cached"] is False
    assert again["thread"] == again["id"]
    await page.get_by_role("button", name="Edit the question").click()
    field = page.get_by_label("Your question")
    assert await field.input_value() == BATS
    assert await field.evaluate("field => field === document.activeElement")
    await page.keyboard.press("Backspace")
    await page.keyboard.type(" cave?")
    await page.keyboard.press("Enter")
    await page.locator("#asked", has_text=f"{BATS[:-1]} cave?").wait_for()


async def test_an_answer_is_exported(open_page: OpenPage) -> None:
    page = await open_page("/")
    await ask(page)
    await page.get_by_text("Export", exact=True).click()
    for name, begins in (("HTML", "<!doctype html>"), ("BibTeX", "@misc{notesexample1,"), ("CSL-JSON", "[{")):
        async with page.expect_download() as download:
            await page.get_by_role("button", name=name, exact=True).click()
        assert (await (await download.value).path()).read_text("utf-8").startswith(begins)
    await page.evaluate("window.print = () => document.body.setAttribute('data-printed', '')")
    await page.get_by_role("button", name="Print or save as PDF").click()
    await page.locator("body[data-printed]").wait_for()


async def test_an_answer_is_read_without_scripts(open_page: OpenPage, stored: str) -> None:
    page = await open_page(f"/answers/{stored}", java_script_enabled=False)
    assert not await page.locator(".actions").is_visible()
    passage = page.locator("#s1-r1")
    assert not await passage.is_visible()
    assert await page.locator(".source time").all_inner_texts() == ["6 May 2024"]
    await page.locator(".citation").first.click()
    assert await passage.is_visible()
    assert "Air scatters blue light" in await passage.locator("mark").all_inner_texts()
    await page.locator(".flag").click()
    assert "40%" in await page.locator("#about-1").inner_text()
    await page.locator("#unread summary").click()
    assert f"{HARM} late" in await page.locator("#unread").inner_text()
    await page.locator("#timings summary").click()
    assert "Searching" in await page.locator("#timings th").all_inner_texts()


async def test_the_history_is_searched(open_page: OpenPage, stored: str) -> None:
    page = await open_page("/history")
    await page.get_by_label("Search the questions").fill("THE SKY")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/history?query=THE+SKY")
    assert await page.locator(".history a").all_inner_texts() == [f"Why is the sky {HARM}?"]
    await page.locator(".history a").click()
    await page.wait_for_url(f"**/answers/{stored}")


async def test_a_stream_that_is_cut_off_is_taken_up_again(open_page: OpenPage, service: Service) -> None:
    async with cutting(service, b"event: searched") as (url, cuts):
        page = await open_page("/", url=url, expected="net::ERR")
        await ask(page)
        assert "echolocation" in await page.locator(".sentence").first.inner_text()
        assert cuts == [b"event: searched"]


@asynccontextmanager
async def cutting(service: Service, place: bytes) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A way to the service that breaks once, where `place` comes by."""
    cuts: list[bytes] = []
    host, _, port = service.url.removeprefix("http://").partition(":")

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            if place in data and not cuts:
                cuts.append(place)
                writer.write(data[: data.index(place)])
                break
            writer.write(data)
            await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reader_there, writer_there = await asyncio.open_connection(host, int(port))
        with suppress(ConnectionError):
            await asyncio.gather(carry(reader, writer_there), carry(reader_there, writer))

    async with await asyncio.start_server(connected, host, 0) as server:
        yield f"http://{host}:{server.sockets[0].getsockname()[1]}", cuts


async def ask_nothing(page: Any) -> None:
    """A search that finds nothing is told as it is."""
    await page.get_by_label("Your question").fill("Why?")
    await page.keyboard.press("Enter")
    await page.locator(".answer .none").wait_for()
    assert "No evidence" in await page.locator("#status").inner_text()
