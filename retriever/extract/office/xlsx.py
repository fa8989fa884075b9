"""Reading of Excel workbooks."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from datetime import time as clock
from typing import TYPE_CHECKING

from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.office.package import Package, explained, own_title
from citewell.retriever.extract.table import TableLimit, TableText, table_blocks

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell

_DIGITS = 12  # significant ones; more show the error of binary fractions


def read_xlsx(body: bytes, package: Package, seconds: float = 15.0) -> TableText:
    """Read the visible sheets of a workbook, each under its name, with the values of formulas.

    [openpyxl](https://openpyxl.readthedocs.io) reads row by row. Reading stops after 20,000 rows, or after
    `seconds`. Raises `ExtractionError` for a workbook that is broken.
    """
    import openpyxl

    package.check_entities()
    limit = TableLimit(time.monotonic() + seconds)
    blocks: list[Block] = []
    hidden = []
    with explained("xlsx"):
        book = openpyxl.load_workbook(io.BytesIO(body), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                hidden.append(sheet.title)
                continue
            sheet.reset_dimensions()  # the declared ones can be wrong
            rows = ([_text(cell) for cell in row] for row in sheet.iter_rows())
            blocks += table_blocks(limit.within(_trimmed(rows)), (sheet.title,))
        title = own_title(book.properties.title)
    notices = [limit.notice, f"hidden sheets were left out: {', '.join(hidden)}" if hidden else ""]
    return TableText(ExtractedDocument(title, tuple(blocks)), "; ".join(filter(None, notices)))


def _trimmed(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield rows without the columns that are empty on the left, as far as the first row with text shows."""
    start = None
    for row in rows:
        first = next((number for number, text in enumerate(row) if text), None)
        if first is None:
            start = None
            yield []
            continue
        start = first if start is None else min(start, first)
        yield row[start:]


def _text(cell: Cell) -> str:
    """Return the value of a cell as Excel would show it, roughly."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and "%" in (cell.number_format or ""):
        return f"{value * 100:.{_DIGITS}g}%"
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}" if abs(value) < 10**_DIGITS else f"{value:.0f}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == clock() else value.isoformat(" ", "minutes")
    if isinstance(value, date | clock | timedelta):
        return str(value)
    return str(value)
