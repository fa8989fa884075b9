"""What tables are made of: cells with a value and perhaps an interval, rows, and sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from benchmarks.results_files import table


class Cell(NamedTuple):
    """A value with its 95% interval, if it has one; None was not measured."""

    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    digits: int = 3

    @property
    def text(self) -> str:
        """The value, and the interval in parentheses."""
        if self.value is None:
            return ""
        if isinstance(self.value, str):
            return self.value
        shown = number(self.value, self.digits)
        if self.low is None or self.high is None or self.low == self.high == self.value:
            return shown
        return f"{shown} ({number(self.low, self.digits)} to {number(self.high, self.digits)})"


def number(value: float, digits: int) -> str:
    """Return a number with its digits after the point; shares of three digits lose the zero before it."""
    text = f"{value:,.{digits}f}"
    return text.replace("0.", ".", 1) if digits == 3 and text.startswith(("0.", "-0.")) else text


def share(found: Mapping[str, float] | Sequence[float] | float | None) -> Cell:
    """Return a cell of a value between 0 and 1."""
    return _cell(found, 1, 3)


def percent(found: Mapping[str, float] | Sequence[float] | float | None) -> Cell:
    """Return a cell of a value between 0 and 1, in percent."""
    return _cell(found, 100, 1)


def count(value: float | None) -> Cell:
    """Return a cell of an integer."""
    return Cell(value, digits=0)


def _cell(found: Mapping[str, float] | Sequence[float] | float | None, factor: float, digits: int) -> Cell:
    """Read a value, [value, low, high], or an object of these names or of `mean`."""
    if found is None or isinstance(found, int | float):
        return Cell(None if found is None else found * factor, digits=digits)
    if isinstance(found, Mapping):
        value = found["value"] if "value" in found else found["mean"]
        found = [value, *(found[name] for name in ("low", "high") if name in found)]
    middle, low, high = [*(each * factor for each in found), None, None][:3]
    return Cell(middle, low, high, digits)


class ReportRow(NamedTuple):
    """A system and its cells by column; `source` is a file of results or a place in a paper."""

    system: str
    cells: Mapping[str, Cell]
    source: str
    published: bool = False


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A question with the table that answers it.

    `lines` say what follows from the figures, `missing` what is not there, and `sources` where it is from.
    """

    title: str
    question: str
    columns: Sequence[str]
    rows: Sequence[ReportRow]
    first: str = "system"
    lines: Sequence[str] = ()
    differs: str = ""
    chart: str = ""
    missing: Sequence[str] = ()
    sources: Sequence[Mapping[str, str]] = field(default_factory=tuple)

    def markdown(self) -> str:
        """Return the section of the page."""
        header = [self.first, *self.columns]
        body = [
            [row.system, *(row.cells.get(name, Cell()).text for name in self.columns)] for row in self.rows
        ]
        if any(row.source != "here" for row in self.rows):
            header += ["from"]
            body = [[*line, row.source] for line, row in zip(body, self.rows, strict=True)]
        parts = [f"## {self.title}", self.question]
        parts += [table(header, body)] if body else []
        parts += [self.chart] if self.chart else []
        parts += [" ".join(self.lines)] if self.lines else []
        parts += [f"What differs: {self.differs}"] if self.differs else []
        parts += ["Missing:\n\n" + "\n".join(f"- {line}" for line in self.missing)] if self.missing else []
        parts += ["Measured by:\n\n" + "\n".join(map(_source, self.sources))] if self.sources else []
        return "\n\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the section as plain values."""
        return {
            "question": self.question,
            "rows": [
                {
                    "system": row.system,
                    "published": row.published,
                    "from": row.source,
                    "values": {
                        name: _plain(cell) for name, cell in row.cells.items() if cell.value is not None
                    },
                }
                for row in self.rows
            ],
            "conclusions": list(self.lines),
            "differs": self.differs,
            "missing": list(self.missing),
            "sources": [dict(source) for source in self.sources],
        }


def _plain(cell: Cell) -> dict[str, Any] | str | float | None:
    if cell.low is None or cell.high is None:
        return cell.value
    return {"value": cell.value, "low": cell.low, "high": cell.high}


def _source(source: Mapping[str, str]) -> str:
    return f"- `{source['file']}`: `{source['command']}` ({source['machine']}, {source['date']})"
