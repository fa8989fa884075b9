"""Invariants of the text browser after every command, for any pages and commands."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from citewell.browser.characters import MARK, SPECIAL, stripped
from citewell.browser.environment import Browser, StepResult
from citewell.browser.page import TextPage
from citewell.browser.state import State

SECTIONS = (
    "♦Question",
    "♦Quotes",
    "♦Past actions",
    "♦Title",
    "♦Scrollbar: ",
    "♦Text",
    "♦Actions left: ",
    "♦Next action",
)
_FOREIGN = re.compile(f"[{SPECIAL}]")


class RecordedWeb:
    """A web that records its requests; implements `Web`."""

    def __init__(self, search: Callable[[str], TextPage], open_: Callable[[str], TextPage]) -> None:
        self._search = search
        self._open = open_
        self.searched: list[str] = []
        self.opened: list[str] = []

    async def search(self, query: str) -> TextPage:
        """Return the results of the search."""
        self.searched.append(query)
        return self._search(query)

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the page at the URL."""
        self.opened.append(url)
        return self._open(url)


async def checked_step(browser: Browser, web: RecordedWeb, command: str) -> StepResult:
    """Carry out a command; raises `AssertionError` if an invariant fails."""
    before, page, quotes = browser.state, browser.page, browser.quotes
    web.searched.clear()
    web.opened.clear()
    outcome = await browser.step(command)
    kind, after = outcome.step.kind, outcome.state
    assert after.actions_left == before.actions_left - 1, "an action that does not count"
    assert len(web.searched) == (kind == "search"), f"{web.searched} was searched by {kind}"
    assert len(web.opened) == (kind == "click_link"), f"{web.opened} was opened by {kind}"
    if web.opened:
        assert page, "a page was opened from nowhere"
        assert web.opened[0] == page.links[int(command.split()[-1])].url, "no link of the page was opened"
    if kind == "invalid":
        assert outcome.step.reason, "an invalid command without a reason"
        assert (browser.page, browser.quotes) == (page, quotes), "an invalid command changed something"
        assert after.first == before.first, "an invalid command scrolled"
    if kind == "quote":
        assert page, "a quote from nowhere"
        words = _unspaced(browser.quotes[-1].text)
        assert words, "an empty quote"
        assert words in _unspaced(stripped(page.text)), "a quote that the page does not have"
    else:
        assert browser.quotes == quotes, "a quote that nobody took"
    check_state(browser, after)
    msgspec.json.encode(outcome.step)
    return outcome


def check_state(browser: Browser, state: State) -> None:
    """Raise `AssertionError` if a state is invalid."""
    text = str(state)
    tokens = browser.count(text)
    assert tokens <= browser.limits.state_tokens, f"{tokens} tokens"
    lines = [line for line in text.split("\n") if line.startswith("♦")]
    assert len(lines) == text.count("♦") == len(SECTIONS), "a forged section"
    assert all(line.startswith(name) for line, name in zip(lines, SECTIONS, strict=True)), lines
    links = browser.page.links if browser.page else ()
    for mark in MARK.finditer(state.text):
        link = links[int(mark[1])]
        assert state.links[int(mark[1])] == link, "a link that is not in the state"
        assert link.text.startswith(mark[2].removesuffix("…")), "a forged mark"
    assert not _FOREIGN.search(MARK.sub("", state.text)), "a special character of the page"
    quotes = "".join(f"{quote.title}{quote.domain}{quote.text}" for quote in state.quotes)
    rest = "".join((state.question, state.title, quotes, *state.past_actions))
    assert not _FOREIGN.search(rest), "a special character"


def _unspaced(text: str) -> str:
    return "".join(text.split())
