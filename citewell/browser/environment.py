"""The text browser: an episode's state, and what each command of WebGPT's Table 1 does to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from citewell.browser.characters import inert, inert_line
from citewell.browser.commands import (
    Back,
    Click,
    Command,
    End,
    Find,
    Invalid,
    Quote,
    Scroll,
    Search,
    Top,
    kind_of,
    parse,
)
from citewell.browser.episode import Ending, Step
from citewell.browser.fitting import Budget
from citewell.browser.limits import BrowserLimits, Count
from citewell.browser.matching import find, quote
from citewell.browser.page import TextPage
from citewell.browser.state import State, TakenQuote
from citewell.browser.view import PageView
from citewell.browser.web import Web
from citewell.core.errors import InputError, ServiceError
from citewell.generator.estimate import estimate_tokens

LONGEST_COMMAND = 20_000
"""Maximum characters of a command; a longer one is invalid."""

_MAX_ACTION = 100  # characters of a past action


class StepResult(NamedTuple):
    """The result of a step: the next state, a record of the step, and the ending of the episode, if any."""

    state: State
    step: Step
    ended: Ending | None


class _InvalidError(Exception):
    """A command that cannot be carried out, with the reason."""


@dataclass(slots=True)
class _OpenPage:
    """An open page, and the current position in it."""

    view: PageView
    first: int = 0
    found: int | None = None
    """Position of the text that was found last; None after the page was scrolled."""


class Browser:
    """The environment of WebGPT (§2 and appendix A, https://arxiv.org/abs/2112.09332), one episode at a time.

    The policy sees `State` and answers with a command as text. It has no other input, so nothing that a page
    says can act on the browser. Commands that cannot be carried out are invalid like any other text:
    they count towards the maximum and change nothing else. Examples are links that are not on the page,
    `Back` without a previous page, quotes of text that is not in the page, and quotes of a page of results.
    Table 1 says that a quote is added "if" it is found; WebGPT's invalid actions are as long as its quotes
    (111 and 124 tokens, WebGLM's Table 11), so it counted failed quotes as invalid too. A search for text
    that is not in the page is valid: nothing moves, and the state remembers the search.
    """

    def __init__(self, web: Web, limits: BrowserLimits | None = None, count: Count = estimate_tokens) -> None:
        """Browse `web`; `count` counts the tokens of states, by default without a tokenizer."""
        self.limits = limits or BrowserLimits()
        self.count = count
        self.ending: Ending | None = "abandoned"
        """The ending of the last episode; None during an episode."""
        self._web = web
        self._budget = Budget(self.limits.state_tokens, count)
        self._begin("", "", 0)

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    @property
    def question(self) -> str:
        """The question of the episode."""
        return self._question

    @property
    def quotes(self) -> tuple[TakenQuote, ...]:
        """The quotes so far, in full."""
        return tuple(self._quotes)

    @property
    def page(self) -> TextPage | None:
        """The open page; None before the first search."""
        return self._place.view.page if self._place else None

    def check_search(self) -> None:
        """Raise `ServiceError` if the last search failed and nothing is quoted: the web was not browsed."""
        if self._problem and not self._quotes:
            raise ServiceError(
                f"Nothing was quoted: {self._problem}",
                "Ask again later, or choose another place to search.",
            )

    async def reset(self, question: str, *, answer: str = "", actions: int | None = None) -> State:
        """Begin an episode of at most `actions` commands, by default the number in the limits.

        Pages that give the question or its reference `answer` away will be shown as errors. Raises
        `InputError` for an empty question, and for a maximum below 1.
        """
        question = inert(question).strip()
        most = self.limits.actions if actions is None else actions
        if not question:
            raise InputError("The question is empty.", "Give the question that is to be answered.")
        if most < 1:
            raise InputError(f"An episode cannot have {most} actions.", "Give at least 1.")
        self._begin(question, answer, most)
        return self._state

    async def step(self, text: str) -> StepResult:
        """Carry out a command, which may be any text.

        Raises `InputError` if there is no current episode. If the call is canceled, nothing changes.
        """
        if self.ending:
            raise InputError("No episode is under way: none was begun, or it has ended.", "Begin one.")
        before, started = self._text, time.perf_counter()
        text = text[: LONGEST_COMMAND + 1].encode(errors="replace").decode()
        command, ending, kind, reason = _read(text), None, "invalid", None
        if isinstance(command, Invalid):
            reason = command.reason
        else:
            try:
                ending = await self._carry_out(command)
                kind = kind_of(command)
            except _InvalidError as error:
                reason = str(error)
        self._left -= 1
        self.ending = ending or (None if self._left else "actions")
        self._show()
        page = self.page
        seconds = time.perf_counter() - started
        step = Step(
            state=before,
            command=text,
            kind=kind,
            reason=reason,
            title=(page.title or None) if page else None,
            url=(page.url or None) if page else None,
            seconds=round(seconds, 6),
        )
        return StepResult(self._state, step, self.ending)

    def _begin(self, question: str, answer: str, actions: int) -> None:
        self._question = question
        self._answer = answer
        self._left = actions
        self._quotes: list[TakenQuote] = []
        self._past: list[str] = []
        self._visited: set[str] = set()
        self._problem = ""
        self._history: list[_OpenPage] = []
        self._place: _OpenPage | None = None
        self._budget.forget()
        self.ending = None if question else "abandoned"
        self._show()

    async def _carry_out(self, command: Command) -> Ending | None:
        match command:
            case Search(query):
                await self._search(query)
            case Click(number):
                await self._click(number)
            case Find(text):
                self._find(text)
            case Quote(text):
                return self._take(text)
            case Scroll(direction, times):
                place = self._here()
                self._scroll(place.view.down if direction == "down" else place.view.up, times)
                self._did(str(command))
            case Top():
                self._scroll(lambda first: 0, 1)
                self._did(str(command))
            case Back():
                if not self._history:
                    raise _InvalidError("there is no page to go back to")
                self._place = self._history.pop()
                self._did(str(command))
            case End(outcome):
                return outcome
        return None

    async def _search(self, query: str) -> None:
        query = inert_line(query)
        if not query:
            raise _InvalidError("nothing follows the command")
        page = await self._web.search(query)
        self._problem = page.problem
        self._open(page)
        self._did(str(Search(query)))

    async def _click(self, number: int) -> None:
        page = self._here().view.page
        if number >= len(page.links):
            raise _InvalidError(f"there is no link {number} on the page")
        link = page.links[number]
        opened = await self._web.open(link.url, self._question, self._answer)
        self._open(opened)
        self._visited |= {link.url, opened.url}
        where = "" if link.domain == page.domain else f" {link.domain}"
        self._did(f"Click {link.text}{where}")

    def _find(self, text: str) -> None:
        """Scroll to the next occurrence: after the last one, or else from the top of the view.

        At the end of the page, the search continues at its top, as in other browsers. Nothing moves if the
        text is not on the page.
        """
        place = self._here()
        wanted = inert_line(text)
        if not wanted:
            raise _InvalidError("nothing follows the command")
        marked, view = place.view.page.text, place.view
        start = view.place(place.first) if place.found is None else place.found + 1
        found = find(marked, text, start)
        if found is None and start:
            found = find(marked, text)
        if found is not None:
            place.found, place.first = found, view.showing(found)
        self._did(str(Find(wanted)))

    def _take(self, text: str) -> Ending | None:
        """Add a quote; the text in view is searched first.

        The quote that reaches the maximum of characters is kept whole, and ends browsing.
        """
        place = self._here()
        page = place.view.page
        if page.kind != "page":
            raise _InvalidError("only pages of the web can be quoted")
        words = quote(page.text, text, place.view.place(place.first))
        if words is None:
            raise _InvalidError("the text is not on the page")
        if len(words) > self.limits.quote_chars:
            raise _InvalidError(f"a quote has at most {self.limits.quote_chars} characters")
        taken = TakenQuote(page.name, page.domain, page.url, words)
        if taken in self._quotes:
            raise _InvalidError("the text is quoted already")
        self._quotes.append(taken)
        self._did("Quote")
        total = sum(len(taken.text) for taken in self._quotes)
        return "quotes" if total >= self.limits.quote_chars else None

    def _scroll(self, move: Callable[[int], int], times: int) -> None:
        place = self._here()
        for _ in range(times):
            place.first = move(place.first)
        place.found = None

    def _here(self) -> _OpenPage:
        if self._place is None:
            raise _InvalidError("no page is open")
        return self._place

    def _open(self, page: TextPage) -> None:
        if self._place:
            self._history.append(self._place)
        self._place = _OpenPage(PageView(page, self.limits, self.count))

    def _did(self, action: str) -> None:
        """Record a past action as a command, with clicks and quotes in the short form of Figure 1."""
        longer = len(action) > _MAX_ACTION
        self._past.append(f"{action[:_MAX_ACTION].rstrip()}…" if longer else action)

    def _show(self) -> None:
        """Build the state."""
        place, page = self._place, self.page
        state = State(
            question=self._question,
            quotes=tuple(self._quotes),
            past_actions=tuple(self._past),
            actions_left=self._left,
            can_go_back=bool(self._history),
            visited=frozenset(self._visited),
            taken=tuple(taken.text for taken in self._quotes),
        )
        tokens = 0
        if place and page:
            window = place.view.window(place.first)
            tokens = window.tokens
            state = replace(
                state,
                title=page.title,
                url=page.url if page.kind == "page" else "",
                first=window.first,
                last=window.last,
                lines=place.view.lines,
                text=window.text,
                links=place.view.links(window.text),
            )
        self._state, self._text = self._budget.fit(state, tokens)


def _read(text: str) -> Command | Invalid:
    return Invalid(text, "it is too long") if len(text) > LONGEST_COMMAND else parse(text)
