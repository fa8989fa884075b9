"""What can be quoted of a passage: its sentences, the items of its lists, and the rows of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from citewell.core.denial import denies
from citewell.core.notes import NoteLines, capitalized, ended, is_code, is_punctuated
from citewell.core.pointing_back import points_back
from citewell.core.text import split_sentences, squeeze, words

_ITEM = re.compile(r"\s*(?:[-*•–·]|\d{1,2}[.)])\s+")
_INDENTED = re.compile(r"\s{2,}(?![-*•–·]|\d{1,2}[.)])\S")
# Words of a line above a list that its items are quoted with: of one such as `Never`, of one with a colon.
_LONGEST_LEAD, _LONGEST_ANNOUNCEMENT = 8, 20
_LONGEST_ITEM = 40  # words; a longer one is quoted by its sentences
# It says what kind of list follows, and nothing about its items.
_KIND_OF_LIST = re.compile(
    r"(?:below|here|the following) (?:are|is) (?:an?|the) (?:\w+ ){0,2}"
    r"(?:chronology|history|outline|overview|summary|timeline)\b",
    re.IGNORECASE,
)
_CELL_END = "|"
_FRAMED = re.compile(r"^\s*\|(.*)\|\s*$")
_DIGIT = re.compile(r"\d")
# What names a column of whatever is explained.
_COLUMN_NAME = re.compile(
    r"(?:what|how|when|where|who|why|which)\b.*\w|definition|description|example|explanation|meaning|purpose",
    re.IGNORECASE,
)
# An amount, but not a year, which may name a column
_AMOUNT = re.compile(r"(?!\d{4}\W*$)\W*\d[\d.,x×%/ ]*\W*")


class Quotable(NamedTuple):
    """What can be quoted alone: a sentence, an item of a list or a row of a table."""

    text: str
    lead: str = ""
    """What the text of an item begins with, from the line above its list."""
    is_row: bool = False
    is_header: bool = False
    name: str = ""
    """The first cell of a row, which says what it is about."""

    @property
    def own(self) -> str:
        """The text without its lead."""
        return self.text.removeprefix(f"{self.lead}: ")


def quotable(passage: str, *, headers: bool = False) -> list[Quotable]:
    """Return what can be quoted of a passage, in order: its pieces, without headers of tables unless asked.

    In a table of two columns, the first row is left out as the header if it has no digit and most others do,
    or if it says `what it does` or the like.
    """
    return [piece for piece in _pieces(passage) if headers or not piece.is_header]


def listed(items: Sequence[Quotable]) -> str:
    """Return items of one list as one sentence, with their lead once."""
    *before, last = (item.own for item in items)
    return f"{items[0].lead}: {'; '.join([*(text.rstrip('.') for text in before), last])}"


def pieces(passage: str) -> list[str]:
    """Return the pieces of a passage that say something each, in order; a line ends each.

    A short item of a list is one piece, since its sentences speak of what it begins with. It begins with the
    line above the list if that denies, as `Never`, or announces it, as `The crew repairs:`. So are a row of a
    table, as in `named_rows`, and a short line of notes, such as a message. Notes without capitals get them,
    and a stop at the end of each line.
    """
    return [piece.text for piece in _pieces(passage)]


def named_rows(passage: str) -> str:
    """Return a passage whose tables have the name of its column before each cell, as in `Name: Ada; Age: 36.`

    In a table of two columns, the first cell names the second. Small models read rows of bare cells badly.
    """
    return "\n".join(line.text for line in _lines(passage.splitlines()))


def _pieces(passage: str) -> Iterator[Quotable]:
    lines = _whole_items(passage.splitlines())
    notes, before, lead = NoteLines(lines), "", ""
    for line in _lines(lines):
        item, whole = _ITEM.match(line.text), notes.whole(line.text)
        is_short = len(words(line.text)) <= _LONGEST_ITEM
        if line.is_row:
            yield line._replace(text=capitalized(line.text))
        elif item and is_short:
            above, own = _lead(lead), squeeze(line.text[item.end() :]).rstrip(",;")
            yield Quotable(ended(f"{above}: {own}" if above else capitalized(own)), above)
        elif whole and is_short:
            yield Quotable(ended(squeeze(whole)))
        else:
            text = capitalized(line.text.strip()) if notes.begins(line.text, before) else line.text
            sentences = [squeeze(sentence) for sentence in split_sentences(text)]
            if notes.without_capitals:
                sentences = [ended(capitalized(sentence)) for sentence in sentences]
            yield from map(Quotable, sentences)
        before, lead = line.text, lead if item or not line.text.strip() else line.text


def _whole_items(lines: Sequence[str]) -> list[str]:
    """Return lines with the indented ones after an item of a list joined to it, as in `cone 6: 1,222 °C`."""
    found: list[str] = []
    for line in lines:
        if found and _ITEM.match(found[-1]) and _INDENTED.match(line):
            gap = " " if is_punctuated(found[-1]) else ": "
            found[-1] += f"{gap}{line.strip()}"
        else:
            found.append(line)
    return found


def _lead(line: str) -> str:
    """Return how items below a line begin: as its last sentence, if that denies them or announces them.

    One that points back, as `They are:`, announces nothing that is understood alone, and one that says what
    kind of list it is, as `Here is a timeline:`, nothing about the items.
    """
    sentences = split_sentences(line)
    last = squeeze(sentences[-1]) if sentences else ""
    above = last.rstrip(": ")
    length = len(words(above))
    tells = not (points_back(last) or _KIND_OF_LIST.match(last))
    announces = last.endswith(":") and length <= _LONGEST_ANNOUNCEMENT and tells
    denied = denies(above) and length <= _LONGEST_LEAD and not is_punctuated(above)
    return above if announces or denied else ""


def _lines(lines: Sequence[str]) -> Iterator[Quotable]:
    for is_table, group in groupby(lines, lambda line: _CELL_END in line):
        together = list(group)
        # A single line may be a command with a pipe.
        if is_table and len(together) > 1 and not any(map(is_code, together)):
            yield from _rows(together)
        else:
            yield from map(Quotable, together)


def _rows(lines: Sequence[str]) -> Iterator[Quotable]:
    for table in _tables([[squeeze(cell) for cell in _cells(line)] for line in lines]):
        yield from _table(table)


def _cells(line: str) -> list[str]:
    return _FRAMED.sub(r"\1", line).split(_CELL_END)


def _tables(rows: Sequence[Sequence[str]]) -> Iterator[Sequence[Sequence[str]]]:
    """Yield the tables of rows that follow one another.

    One begins where two rows have more cells than the first row of the table before, which fits its others.
    """
    start = 0
    for place in range(2, len(rows) - 1):
        width = len(rows[start])
        fits = place > start + 1 and len(rows[place - 1]) <= width
        if fits and len(rows[place]) == len(rows[place + 1]) > width:
            yield rows[start:place]
            start = place
    yield rows[start:]


def _table(table: Sequence[Sequence[str]]) -> Iterator[Quotable]:
    columns = [] if _is_data(table[0], table[1:]) else table[0]
    for place, cells in enumerate(table):
        if place or not columns or len(cells) == 2:
            is_header = not place and _is_header(cells, table[1:])
            yield Quotable(ended(_row(columns, cells)), is_row=True, is_header=is_header, name=cells[0])


def _is_data(first: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row has an amount where each other row of as many cells has one."""
    alike = [row for row in rows if len(row) == len(first)]
    columns = zip(first, *alike, strict=True)
    return bool(alike) and any(all(map(_AMOUNT.fullmatch, column)) for column in columns)


def _is_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    if rows and _COLUMN_NAME.fullmatch(cells[-1]):
        return True
    with_digits = sum(any(map(_DIGIT.search, row[1:])) for row in rows)
    return 2 * with_digits > len(rows) and not any(map(_DIGIT.search, cells))


def _row(columns: Sequence[str], cells: Sequence[str]) -> str:
    if len(cells) == 2:
        return ": ".join(filter(None, cells))
    names = [*columns, *[""] * len(cells)]
    return "; ".join(
        f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell
    )
