"""Finding and quoting text in a page, as WebGPT's appendix A has it.

Text is compared with the page's text with links stripped, which is to say with only the text of each link,
and case is ignored. For quoting, white space is ignored too, and `start━end` stands for all between them.
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


class _Span(NamedTuple):
    """Two places in a text; the end is past the last character."""

    begin: int
    end: int


def find(text: str, wanted: str, start: int = 0) -> int | None:
    """Where `wanted` first occurs in the marked `text` at or after `start`; None where it does not.

    The position counts characters of the marked text; text of a link is found inside of its mark.
    """
    needle = inert(wanted).casefold()
    shown = stripped(text)
    before = shown[: _shown_before(text, start)].casefold()
    found = shown.casefold().find(needle, len(before)) if needle else -1
    return None if found < 0 else _place(text, _unfolded(shown, found))


def quote(text: str, wanted: str, start: int = 0) -> str | None:
    """The words of the marked `text` that `wanted` names, links stripped, on one line; None without any.

    Of several occurrences the first at or after `start` counts, or else the first of all. `start━end` names
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


def _shortest(text: str, first: str, last: str, start: int) -> _Span | None:
    """The first span at or after `start` from `first` to `last` (which may be empty) that holds no other."""
    begin = text.find(first, start)
    if begin < 0 or not last:
        return _Span(begin, begin + len(first)) if begin >= 0 else None
    end = text.find(last, begin + len(first))
    return _Span(text.rfind(first, begin, end), end + len(last)) if end >= 0 else None


def _visible(text: str) -> Iterator[_Span]:
    """The spans of marked text that are left when its links are stripped."""
    end = 0
    for mark in MARK.finditer(text):
        yield _Span(end, mark.start())
        yield _Span(*mark.span(2))
        end = mark.end()
    yield _Span(end, len(text))


def _shown_before(text: str, place: int) -> int:
    """How many characters of the stripped text stand before a place in the marked text."""
    return sum(max(0, min(span.end, place) - span.begin) for span in _visible(text)) if place > 0 else 0


def _place(text: str, shown: int) -> int:
    """The place in the marked text of a character of the stripped text."""
    for begin, end in _visible(text):
        if shown < end - begin:
            return begin + shown
        shown -= end - begin
    return len(text)


def _unspaced(text: str) -> str:
    return "".join(text.split())


def _spaced(text: str, place: int) -> int:
    """The place in `text` of a character of `_unspaced(text)`."""
    for run in _RUN.finditer(text):
        if place < run.end() - run.start():
            return run.start() + place
        place -= run.end() - run.start()
    return len(text)


def _unfolded(text: str, place: int) -> int:
    """The place in `text` of a character of `text.casefold()`, which is longer where ß becomes ss."""
    if len(text.casefold()) == len(text):
        return place
    return bisect_right(list(accumulate(len(character.casefold()) for character in text)), place)
