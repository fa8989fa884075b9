"""Reduction of a state to its budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from citewell.browser.limits import Count
from citewell.browser.state import State, TakenQuote, quoted

# The text in view gets at most six tenths; a fifth is reserved for the layout, quotes and past actions.
_OF_QUESTION = 0.15
_OF_TITLE = 0.05
_LATEST = 3  # past actions that stay until all quotes are short
_QUOTE_LENGTHS = (160, 40)  # characters that quotes are shortened to


class FittedState(NamedTuple):
    """A state within its budget, and its text."""

    state: State
    text: str


class _Cut(NamedTuple):
    """A reduced state, and the number of tokens left at that point."""

    state: State
    left: int


class Budget:
    """A budget of `tokens` for states, as counted by `count`; each part of the state is counted once.

    Text in view is kept longest. Past actions are removed first, oldest first, except the latest few; then
    quotes are shortened, oldest first; then the rest of both is removed, and at last the end of the text in
    view.
    """

    def __init__(self, tokens: int, count: Count) -> None:
        self._tokens = tokens
        self._count = count
        self._known: dict[str, int] = {}
        self._cuts: dict[str, str] = {}

    def fit(self, state: State, window_tokens: int) -> FittedState:
        """Return the state within the budget; `window_tokens` are the tokens of the text in view."""
        state = replace(
            state,
            question=self._cut(state.question, int(self._tokens * _OF_QUESTION)),
            title=self._cut(state.title, int(self._tokens * _OF_TITLE)),
        )
        room = self._tokens
        while True:
            fitted, left = self._fitted(state, window_tokens, room)
            text = str(fitted)
            # Joined lines rarely have a different number of tokens than the lines apart, and then by little.
            if left >= text.count("\n") and room == self._tokens:
                return FittedState(fitted, text)
            excess = self._count(text) - self._tokens
            if excess <= 0 or room <= 0:
                return FittedState(fitted, text)
            room -= excess

    def forget(self) -> None:
        """Clear the counts for the next episode."""
        self._known.clear()
        self._cuts.clear()

    def _fitted(self, state: State, window_tokens: int, room: int) -> _Cut:
        bare = replace(state, quotes=(), past_actions=(), text="")
        room -= window_tokens + sum(self._of(f"{line}\n") for line in str(bare).splitlines())
        actions = [self._of(f"{action}\n") for action in state.past_actions]
        quotes = self._shortened(state.quotes, room - sum(actions[-_LATEST:]))
        room -= sum(self._of_quote(quote) for quote in quotes)
        kept = 0
        while kept < len(actions) and actions[-1 - kept] <= room:
            kept += 1
            room -= actions[-kept]
        past = state.past_actions[len(actions) - kept :]
        state = replace(state, quotes=tuple(quotes), past_actions=past)
        return _Cut(state if room >= 0 else self._cut_window(state, window_tokens + room), room)

    def _shortened(self, quotes: Sequence[TakenQuote], room: int) -> list[TakenQuote]:
        """Return the quotes within `room` tokens: the oldest are shortened, then removed, first."""
        kept = list(quotes)
        room -= sum(self._of_quote(quote) for quote in kept)
        for length in _QUOTE_LENGTHS:
            for place, quote in enumerate(kept):
                if room >= 0:
                    return kept
                kept[place] = replace(
                    quote, title=_first(quote.title, length), text=_first(quote.text, length)
                )
                room += self._of_quote(quote) - self._of_quote(kept[place])
        while kept and room < 0:
            room += self._of_quote(kept.pop(0))
        return kept

    def _of_quote(self, quote: TakenQuote) -> int:
        return self._of(f"{quoted(quote)}\n")

    def _of(self, piece: str) -> int:
        if piece not in self._known:
            self._known[piece] = self._count(piece)
        return self._known[piece]

    def _cut_window(self, state: State, tokens: int) -> State:
        """Return the state with the lines in view that fit in the tokens; marks are never split."""
        lines = state.text.split("\n")
        kept = 0
        while kept < len(lines) and (tokens := tokens - self._of(f"{lines[kept]}\n")) >= 0:
            kept += 1
        text = "\n".join(lines[:kept])
        links = {number: link for number, link in state.links.items() if f"【{number}†" in text}
        return replace(state, last=state.first + kept, text=text, links=links)

    def _cut(self, text: str, tokens: int) -> str:
        """Return the beginning of a text within the tokens, with an ellipsis if it was cut."""
        if self._of(text) <= tokens:
            return text
        if text not in self._cuts:
            self._cuts[text] = self._longest(text, tokens)
        return self._cuts[text]

    def _longest(self, text: str, tokens: int) -> str:
        fits, too_long = 0, len(text)
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if self._count(f"{text[:middle]}…") <= tokens:
                fits = middle
            else:
                too_long = middle
        return f"{text[:fits].rstrip()}…"


def _first(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length].rstrip('… ')}…"
