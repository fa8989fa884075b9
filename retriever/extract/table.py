"""Tables as text: lines of cells, of which the first is the header."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.charset import decode
from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.parts import measure

MOST_ROWS = 20_000
_MOST_CHARS = 8_000_000
_MOST_CELLS = 500  # of a row
_MAX_HEADER = 40  # words; with a longer one, each row repeats the names of its columns
_SAMPLE = 65_536  # characters that show what separates the cells
_DELIMITERS = ",;\t|"


class TableText(NamedTuple):
    """The text of a document of tables. `notice` says what was not read; it is empty if everything was."""

    document: ExtractedDocument
    notice: str = ""


class TableLimit:
    """The number of rows and characters that a document may have, and the time until which it is read."""

    def __init__(self, until: float) -> None:
        self.rows = self._chars = 0
        self._until = until

    def within(self, rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
        """Yield rows without empty cells at the end, until a limit is reached."""
        for number, row in enumerate(rows):
            if number and number % 256 == 0 and time.monotonic() > self._until:
                self._chars = _MOST_CHARS
            if self.is_reached:
                return
            cells = [" ".join(cell.split()) for cell in row[:_MOST_CELLS]]
            while cells and not cells[-1]:
                cells.pop()
            self.rows += bool(cells)
            self._chars += sum(map(len, cells))
            yield cells

    @property
    def is_reached(self) -> bool:
        """Whether no more rows are read."""
        return self.rows >= MOST_ROWS or self._chars >= _MOST_CHARS

    @property
    def notice(self) -> str:
        """What is said about a document that was not read to its end."""
        return f"only the first {self.rows:,} of its rows were read" if self.is_reached else ""


def table_blocks(rows: Iterable[list[str]], headings: tuple[str, ...] = ()) -> Iterator[Block]:
    """Yield the blocks of rows: an empty row ends a table, and a line of one cell stands alone.

    A table is written as lines such as `cell | cell`, and a passage repeats its first line. If that is too
    long to be repeated, each row becomes `name: cell | name: cell`.
    """
    table: list[list[str]] = []
    for row in rows:
        if len(row) > 1 or (row and table):
            table.append(row)
            continue
        yield from _table(table, headings)
        table = []
        if row:
            yield Block(row[0], headings)
    yield from _table(table, headings)


def _table(rows: Sequence[Sequence[str]], headings: tuple[str, ...]) -> Iterator[Block]:
    if not rows:
        return
    lines = [" | ".join(row) for row in rows]
    if len(rows) > 2 and measure(lines[0]) > _MAX_HEADER:
        names = rows[0]
        lines = [" | ".join(_named(names, row)) for row in rows[1:]]
    yield Block("\n".join(lines), headings)


def _named(names: Sequence[str], row: Sequence[str]) -> Iterator[str]:
    for number, cell in enumerate(row):
        name = names[number] if number < len(names) else ""
        if cell:
            yield f"{name}: {cell}" if name else cell


def read_csv(body: bytes, content_type: str = "", seconds: float = 15.0) -> TableText:
    """Read comma-separated values (RFC 4180), also with semicolons, tabs or bars between the cells.

    The first row is the header. Reading stops after 20,000 rows, or after `seconds`. Raises
    `ExtractionError` for a file without rows.
    """
    text = decode(body, content_type).replace("\0", "")
    limit = TableLimit(time.monotonic() + seconds)
    csv.field_size_limit(_MOST_CHARS)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:_SAMPLE]))
    try:
        blocks = tuple(table_blocks(limit.within(reader)))
    except csv.Error as error:
        raise ExtractionError(f"the table is broken in line {reader.line_num:,} ({error})") from error
    return TableText(ExtractedDocument("", blocks), limit.notice)


def _delimiter(sample: str) -> str:
    """Return the character that divides most lines into the same number of cells, more than one."""
    lines = [line for line in sample.splitlines() if line.strip()][:50]

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = [line.count(delimiter) for line in lines]
        usual = max(set(counts), key=counts.count, default=0)
        return (counts.count(usual) if usual else 0, usual)

    return max(_DELIMITERS, key=agreement)
