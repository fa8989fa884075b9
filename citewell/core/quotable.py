"""What can be quoted of a passage: its sentences, the items of its lists, and the rows of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from citewell.core.text import split_sentences, squeeze, words

_ITEM = re.compile(r"\s*(?:[-*•–·]|\d{1,2}[.)])\s+")
_LONGEST_ITEM = 40  # words; a longer one is quoted by its sentences
# The time of a message or an entry, as in `[2026-03-02 09:15] ben: yes` and `2/3/26, 09:15 - Ben: yes`
_TIME = re.compile(
    r"\s*\[?((?:\d{1,4}([-/.])\d{1,2}\2\d{1,4},? )?\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?|\d{4}-\d\d-\d\d)"
    r"(?:\]|\b)(?: -|:|,)?\s+(?=\S)"
)
_LOWER = 0.66  # of the sentences begin so in a text whose author writes without capitals
_CELL_END = "|"
_FRAMED = re.compile(r"^\s*\|(.*)\|\s*$")
# What commands and programs have, whose pipes part no cells: variables, options, calls, assignments.
_CODE = re.compile(r"[`{}=\\]|\$[A-Za-z]|\w\(|(?:^|\s)--?[A-Za-z]")
_DIGIT = re.compile(r"\d")
_STOP = re.compile(r"[.!?。！？…:][\"'”’)\]]*$")


def quotable(passage: str) -> list[str]:
    """Return what can be quoted of a passage, in order: its pieces, without headers of tables.

    In a table of two columns, the first row is left out as the header if it has no digit and most others do.
    """
    return [piece.text for piece in _pieces(passage) if not piece.is_header]


def pieces(passage: str) -> list[str]:
    """Return the pieces of a passage that say something each, in order; a line ends each.

    A short item of a list is one piece, since its sentences speak of what it begins with. So are a message or
    an entry that begins with its time, and a row of a table, as in `named_rows`. Notes without capitals get
    them, and a stop at the end of each line.
    """
    return [piece.text for piece in _pieces(passage)]


def named_rows(passage: str) -> str:
    """Return a passage whose tables have the name of its column before each cell, as in `Name: Ada; Age: 36.`

    In a table of two columns, the first cell names the second. Small models read rows of bare cells badly.
    """
    return "\n".join(line.text for line in _lines(passage.splitlines()))


class _Quotable(NamedTuple):
    text: str
    is_row: bool = False
    is_header: bool = False


def _pieces(passage: str) -> Iterator[_Quotable]:
    is_plain = _is_without_capitals(passage)
    for line in _lines(passage.splitlines()):
        item, time = _ITEM.match(line.text), _TIME.match(line.text)
        is_short = len(words(line.text)) <= _LONGEST_ITEM
        if line.is_row:
            yield line._replace(text=_capitalized(line.text))
        elif time and is_short:
            yield _Quotable(_ended(f"{time[1]} {squeeze(line.text[time.end() :])}"))
        elif item and is_short:
            yield _Quotable(_ended(_capitalized(squeeze(line.text[item.end() :]))))
        else:
            sentences = map(squeeze, split_sentences(line.text))
            yield from map(_Quotable, map(_sentence, sentences) if is_plain else sentences)


def _is_without_capitals(passage: str) -> bool:
    lines = [text for line in passage.splitlines() if (text := line.strip()) and text[0].isalpha()]
    return sum(text[0].islower() for text in lines) > _LOWER * len(lines) and not any(
        map(_CODE.search, lines)
    )


def _sentence(text: str) -> str:
    return _ended(_capitalized(text))


def _lines(lines: Sequence[str]) -> Iterator[_Quotable]:
    for is_table, group in groupby(lines, lambda line: _CELL_END in line):
        together = list(group)
        # A single line may be a command with a pipe.
        if is_table and len(together) > 1 and not any(map(_CODE.search, together)):
            yield from _rows(together)
        else:
            yield from map(_Quotable, together)


def _rows(lines: Sequence[str]) -> Iterator[_Quotable]:
    table = [[squeeze(cell) for cell in _FRAMED.sub(r"\1", line).split(_CELL_END)] for line in lines]
    columns: list[str] = []
    for cells in table:
        if columns or len(cells) == 2:
            is_header = not columns and _is_header(cells, table[1:])
            yield _Quotable(_ended(_row(columns, cells)), is_row=True, is_header=is_header)
        columns = columns or cells


def _is_header(cells: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    with_digits = sum(any(map(_DIGIT.search, row[1:])) for row in rows)
    return 2 * with_digits > len(rows) and not any(map(_DIGIT.search, cells))


def _row(columns: Sequence[str], cells: Sequence[str]) -> str:
    if len(cells) == 2:
        return ": ".join(filter(None, cells))
    names = [*columns, *[""] * len(cells)]
    return "; ".join(
        f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell
    )


def _capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _ended(text: str) -> str:
    return text if not text or _STOP.search(text) else f"{text}."
