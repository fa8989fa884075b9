"""Finding and quoting text in a page, as defined in WebGPT's appendix A.

Text is compared with the page's text without the marks of links (only their texts), ignoring case. Quoting
also ignores white space, and `start━end` stands for everything from `start` to `end`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from citewell.browser.characters import MARK, inert, stripped
from citewell.core.text import squeeze

ABBREVIATES = "━"
_RUN = re.compile(r"\S+")


class _MatchSpan(NamedTuple):
    """Two positions in a text; the end is exclusive."""

    begin: int
    end: int


def find(text: str, wanted: str, start: int = 0) -> int | None:
    """Return the first position of `wanted` in the marked `text` at or after `start`; None if there is none.

    The position counts characters of the marked text; text of a link is found inside its mark.
    """
    needle = inert(wanted).casefold()
    shown = stripped(text)
    before = shown[: _shown_before(text, start)].casefold()
    found = shown.casefold().find(needle, len(before)) if needle else -1
    return None if found < 0 else _place(text, _unfolded(shown, found))


def quote(text: str, wanted: str, start: int = 0) -> str | None:
    """Return the words of the marked `text` that `wanted` names, without marks, on one line, or None.

    Of several occurrences, the first at or after `start` is used, or else the first of all. `start━end` names
    the shortest text that begins with `start` and ends with `end`.
    """
    head, abbreviated, tail = wanted.partition(ABBREVIATES)
    first, last = (_unspaced(inert(part)).casefold() for part in (head, tail))
    if not first or (abbreviated and not last):
        return None
    shown = stripped(text)
    letters = _unspaced(shown)
    folded = letters.casefold()
    before = _unspaced(shown[: _shown_before(text, start)]).casefold()
    span = _shortest(folded, first, last, len(before)) or _shortest(folded, first, last, 0)
    if span is None:
        return None
    begin = _spaced(shown, _unfolded(letters, span.begin))
    end = _spaced(shown, _unfolded(letters, span.end - 1)) + 1
    return squeeze(shown[begin:end])


def _shortest(text: str, first: str, last: str, start: int) -> _MatchSpan | None:
    """Return the first minimal span at or after `start` from `first` to `last`, which may be empty."""
    begin = text.find(first, start)
    if begin < 0 or not last:
        return _MatchSpan(begin, begin + len(first)) if begin >= 0 else None
    end = text.find(last, begin + len(first))
    return _MatchSpan(text.rfind(first, begin, end), end + len(last)) if end >= 0 else None


def _visible(text: str) -> Iterator[_MatchSpan]:
    """Yield the spans of marked text that remain when its links are stripped."""
    end = 0
    for mark in MARK.finditer(text):
        yield _MatchSpan(end, mark.start())
        yield _MatchSpan(*mark.span(2))
        end = mark.end()
    yield _MatchSpan(end, len(text))


def _shown_before(text: str, place: int) -> int:
    """Return the number of characters of the stripped text before a position in the marked text."""
    return sum(max(0, min(span.end, place) - span.begin) for span in _visible(text)) if place > 0 else 0


def _place(text: str, shown: int) -> int:
    """Return the position in the marked text of a character of the stripped text."""
    for begin, end in _visible(text):
        if shown < end - begin:
            return begin + shown
        shown -= end - begin
    return len(text)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _spaced(text: str, place: int) -> int:
    """Return the position in `text` of a character of `_unspaced(text)`."""
    for run in _RUN.finditer(text):
        if place < run.end() - run.start():
            return run.start() + place
        place -= run.end() - run.start()
    return len(text)


def _unfolded(text: str, place: int) -> int:
    """Return the position in `text` of a character of `text.casefold()`, longer where ß becomes ss."""
    if len(text.casefold()) == len(text):
        return place
    return bisect_right(list(accumulate(len(character.casefold()) for character in text)), place)
