from __future__ import annotations

from pathlib import Path

import pytest

from citewell.browser.environment import Browser
from citewell.browser.page import TextPage
from citewell.browser.recording import Recorded, WebRecorder, read_recording, write_recording
from citewell.core.errors import InputError
from tests.browser.pages import Shelf, article

COMMANDS = [
    "Search crows",
    "Clicked on link 0",
    "Quote: crows are",
    "Back",
    "Clicked on link 1",
    "End: Answer",
]


async def states(browser: Browser, question: str, commands: list[str]) -> list[str]:
    shown = [str(await browser.reset(question))]
    return shown + [str((await browser.step(command)).state) for command in commands]


async def test_a_recorded_session_replays_to_the_same_states_without_its_web(tmp_path: Path) -> None:
    web = Shelf(article("Crows are black."), article("Rooks too.", "Rooks", "birds.example", "rooks"))
    del web.pages["https://birds.example/rooks"]
    recorder = WebRecorder(web)
    seen = await states(Browser(recorder), "What are crows?", COMMANDS)
    write_recording(recorder.taken(), tmp_path / "session.jsonl")
    replayed = Recorded(read_recording(tmp_path / "session.jsonl"))
    assert await states(Browser(replayed), "What are crows?", COMMANDS) == seen


async def test_a_session_goes_on_from_what_was_recorded() -> None:
    web = Shelf(article("Crows are black."))
    recorder = WebRecorder(web)
    seen = await states(Browser(recorder), "What are crows?", COMMANDS[:2])
    first = recorder.taken()
    assert [(entry.kind, entry.key) for entry in first] == [
        ("search", "crows"),
        ("open", "https://birds.example/crows"),
    ]
    web.pages.clear()
    again = WebRecorder(web, first)
    assert await states(Browser(again), "What are crows?", COMMANDS[:2]) == seen
    assert again.taken() == []
    await again.open("https://birds.example/rooks", "")
    assert [entry.key for entry in again.taken()] == ["https://birds.example/rooks"]


async def test_pages_are_recorded_uncensored_and_censored_for_each_question() -> None:
    question = "What are the clever birds that have black feathers and steal from us?"
    web = Shelf(article(f"Somebody asks: {question}"))
    recorder = WebRecorder(web)
    url = "https://birds.example/crows"
    assert (await recorder.open(url, question)).kind == "error"
    recorded = Recorded(recorder.taken())
    assert (await recorded.open(url, "Why?")).kind == "page"
    assert (await recorded.open(url, question)).kind == "error"
    assert web.asked == [("", "")]


async def test_what_is_not_in_a_recording_is_an_error_page() -> None:
    recorded = Recorded([])
    pages: list[TextPage] = [await recorded.search("crows"), await recorded.open("https://a.example/", "")]
    assert [page.kind for page in pages] == ["error", "error"]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"kind": "open", "key": "u"}', '{"kind": "run", "key": "", "page": 1}']
)
def test_a_file_that_is_no_recording_is_refused_with_its_line(line: str, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: not a valid entry"):
        list(read_recording(file))


def test_a_recording_that_is_no_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "recording.jsonl"
    file.write_bytes(b'{"kind": "search", "key": "\xff"}\n')
    with pytest.raises(InputError, match="line 1: not UTF-8"):
        list(read_recording(file))


def test_a_recording_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_recording(tmp_path / "none.jsonl"))
