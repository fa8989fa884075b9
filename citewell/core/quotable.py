"""What can be quoted of a passage: its sentences, the items of its lists, and the rows of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from citewell.core.text import split_sentences, squeeze, words

_ITEM = re.compile(r"\s*(?:[-*•–·]|\d{1,2}[.)])\s+")
_LONGEST_ITEM = 40  # words; a longer one is quoted by its sentences
_CELL_END = "|"
_FRAMED = re.compile(r"^\s*\|(.*)\|\s*$")
_STOP = re.compile(r"[.!?。！？…:][\"'”’)\]]*$")


def quotable(passage: str) -> list[str]:
    """Return what can be quoted of a passage, in order; a line ends each.

    A short item of a list is one piece, since its sentences speak of what it begins with. So is a row of a
    table, each cell after the name of its column: `Name: Ada; Role: treasurer.` In a table of two columns,
    the first cell is the name of the second.
    """
    return list(_pieces(passage.splitlines()))


def _pieces(lines: Sequence[str]) -> Iterator[str]:
    columns: list[str] = []
    for line in lines:
        if _CELL_END in line:
            cells = [squeeze(cell) for cell in _FRAMED.sub(r"\1", line).split(_CELL_END)]
            if columns or len(cells) == 2:
                yield _ended(_row(columns, cells))
            columns = columns or cells
            continue
        columns = []
        item = _ITEM.match(line)
        if item and len(words(line)) <= _LONGEST_ITEM:
            text = squeeze(line[item.end() :])
            yield _ended(f"{text[:1].upper()}{text[1:]}")
        else:
            yield from map(squeeze, split_sentences(line))


def _row(columns: Sequence[str], cells: Sequence[str]) -> str:
    if len(cells) == 2:
        return ": ".join(filter(None, cells))
    names = [*columns, *[""] * len(cells)]
    return "; ".join(
        f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell
    )


def _ended(text: str) -> str:
    return text if not text or _STOP.search(text) else f"{text}."
