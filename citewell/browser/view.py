"""A page in lines, some of which are in view."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.browser.characters import MARK
from citewell.browser.limits import BrowserLimits, Count
from citewell.browser.page import Link, TextPage

WIDTH = 73
"""Characters of a line; with this number, lines break as in WebGPT's Figure 1 (b)."""

_LINK_TEXT = 150  # characters of a link's text that are shown
_ABOVE = 2  # lines of context above a text that was found
_WORD = re.compile(r"(?:[^\s【]++|【[^】\n]*+】|【)++")
_PIECE = re.compile(r"[^\s【]++|【[^】\n]*+】|【")


class Window(NamedTuple):
    """The lines `first` to `last` (exclusive) of a page, and their number of tokens."""

    first: int
    last: int
    text: str
    tokens: int


class PageView:
    """A page in lines of at most `WIDTH` characters; the mark of a link is never broken.

    Tokens are counted per line, once for each line.
    """

    def __init__(self, page: TextPage, limits: BrowserLimits, count: Count) -> None:
        self.page = page
        self._limits = limits
        self._count = count
        self._starts, self._ends = array("l"), array("l")
        for start, end in _wrapped(page.text):
            self._starts.append(start)
            self._ends.append(end)
        self._known = array("l", [-1]) * len(self._starts)
        self._bottom: int | None = None

    @property
    def lines(self) -> int:
        """The number of lines of the page."""
        return len(self._starts)

    @property
    def bottom(self) -> int:
        """The first line in view when the page is scrolled to its end."""
        if self._bottom is None:
            self._bottom = self._first_of(self.lines)
        return self._bottom

    def window(self, first: int) -> Window:
        """Return the view from a line on: as many whole lines as the limits allow, and at least one."""
        last, tokens = first, 0
        while last < min(self.lines, first + self._limits.window_lines):
            more = self._tokens(last)
            if last > first and tokens + more > self._limits.window_tokens:
                break
            tokens += more
            last += 1
        return Window(first, last, "\n".join(self._line(line) for line in range(first, last)), tokens)

    def down(self, first: int) -> int:
        """Return the first line in view after scrolling down once, by a window less one line."""
        return min(max(self.window(first).last - 1, first + 1), self.bottom)

    def up(self, first: int) -> int:
        """Return the first line in view after scrolling up once."""
        return min(self._first_of(first + 1), first - 1) if first else 0

    def showing(self, place: int) -> int:
        """Return the first line in view that shows the character at a position of the page's text."""
        line = max(0, bisect_right(self._starts, place) - 1)
        above = max(0, line - _ABOVE)
        return min(above if self.window(above).last > line else line, self.bottom)

    def place(self, line: int) -> int:
        """Return the position in the page's text where a line begins."""
        return self._starts[line] if line < self.lines else len(self.page.text)

    def links(self, text: str) -> dict[int, Link]:
        """Return the links of the page whose marks are in a text that was in view."""
        ids = (int(mark[1]) for mark in MARK.finditer(text))
        return {number: self.page.links[number] for number in ids if number < len(self.page.links)}

    def _first_of(self, last: int) -> int:
        """Return the first of as many lines before `last` as the limits allow, and of at least one."""
        first, room = last, self._limits.window_tokens
        while first > max(0, last - self._limits.window_lines):
            room -= self._tokens(first - 1)
            if room < 0 and first < last:
                break
            first -= 1
        return first

    def _tokens(self, line: int) -> int:
        if self._known[line] < 0:
            self._known[line] = self._count(self._line(line) + "\n")
        return self._known[line]

    def _line(self, line: int) -> str:
        text = self.page.text[self._starts[line] : self._ends[line]]
        return MARK.sub(_shortened, text) if len(text) > WIDTH else text


class _Span(NamedTuple):
    begin: int
    end: int


def _wrapped(text: str) -> Iterator[_Span]:
    """Yield the lines of a text."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin <= WIDTH:
            yield _Span(begin, end)
        else:
            yield from _broken(text, begin, end)
        begin = end + 1


def _broken(text: str, begin: int, end: int) -> Iterator[_Span]:
    """Yield the lines that a line is broken into, between words if possible."""
    first = last = -1
    for word in _WORD.finditer(text, begin, end):
        for start, stop in _pieces(text, *word.span()):
            if stop - first > WIDTH or first < 0:
                if first >= 0:
                    yield _Span(first, last)
                first = start
            last = stop
    if first >= 0:
        yield _Span(first, last)


def _pieces(text: str, begin: int, end: int) -> Sequence[tuple[int, int]]:
    """Return the parts at which a word may be broken: marks are whole."""
    if end - begin <= WIDTH:
        return ((begin, end),)
    pieces: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(text, begin, end):
        start, stop = piece.span()
        width = stop - start if text[start] == "【" else WIDTH
        pieces += ((place, min(place + width, stop)) for place in range(start, stop, width))
    return pieces


def _shortened(mark: re.Match[str]) -> str:
    if len(mark[2]) <= _LINK_TEXT:
        return mark[0]
    where = "" if mark[3] is None else f"†{mark[3]}"
    return f"【{mark[1]}†{mark[2][:_LINK_TEXT]}…{where}】"
