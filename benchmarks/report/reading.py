"""The files of results, and the published figures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report.cells import Cell, ReportRow
from benchmarks.results_files import read_tables

STAMPS = ("command", "machine", "date")
_MEASURED = re.compile(
    r"^Measured by `(?P<command>.+)` \((?P<machine>.+), (?P<date>[\d-]+)\)\.$", re.MULTILINE
)
PUBLISHED = Path(__file__).parents[1] / "published.json"


class ResultFiles:
    """The results that one section reads; what is missing is kept, to be said."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.names: list[str] = []
        self.missing: list[str] = []
        self.sources: list[dict[str, str]] = []

    def read(self, name: str) -> dict[str, Any]:
        """Return `NAME.json`, or nothing if it is missing."""
        file = f"{name}.json"
        self.names.append(file)
        path = self._folder / file
        if not path.exists():
            self.missing.append(f"Not run here: there is no `{file}`.")
            return {}
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self._stamp(file, found)
        return found

    def tables(self, file: str) -> list[list[dict[str, str]]]:
        """Return the tables of a Markdown page that a command wrote, as rows by column."""
        self.names.append(file)
        path = self._folder / file
        if not path.exists():
            self.missing.append(f"Not run here: there is no `{file}`.")
            return []
        text = path.read_text(encoding="utf-8")
        measured = _MEASURED.search(text)
        self._stamp(file, measured.groupdict() if measured else {})
        return read_tables(text)

    def _stamp(self, file: str, found: Mapping[str, Any]) -> None:
        lacking = [name for name in STAMPS if not found.get(name)]
        if lacking:
            self.missing.append(f"`{file}` names no {_listed(lacking)}.")
        else:
            self.sources.append({"file": file} | {name: found[name] for name in STAMPS})


class PublishedFigures:
    """The published figures by topic."""

    def __init__(self, path: Path = PUBLISHED) -> None:
        found = json.loads(path.read_text(encoding="utf-8"))
        self.papers: Mapping[str, Mapping[str, str]] = found["papers"]
        self._topics: Mapping[str, Mapping[str, Any]] = found["topics"]

    def differs(self, topic: str) -> str:
        """Return what differs between the protocol of the papers and ours."""
        return str(self._topics[topic]["differs"])

    def value(self, topic: str, system: str, column: str) -> float:
        """Return one published figure."""
        rows = self._topics[topic]["rows"]
        return float(next(row for row in rows if row["system"] == system)["values"][column])

    def rows(self, topic: str, digits: int = 3) -> list[ReportRow]:
        """Return the published rows of a topic."""
        return [
            ReportRow(
                row["system"],
                {name: published_cell(value, digits) for name, value in row["values"].items()},
                place(row),
                published=True,
            )
            for row in self._topics[topic]["rows"]
        ]


def published_cell(value: float, digits: int) -> Cell:
    """Return a cell of a figure; one that is published as an integer stays one."""
    return Cell(value, digits=0 if isinstance(value, int) else digits)


def place(row: Mapping[str, Any]) -> str:
    """Return where a figure is published."""
    page = f", page {row['page']}" if row.get("page") else ""
    return f"{row['paper']}, {row['place']}{page}"


def read_cell(text: str, digits: int = 3) -> Cell:
    """Read `0.5 (0.4 to 0.6)`, or a single number; other texts are cells without a value."""
    numbers = [float(value) for value in re.findall(r"-?\d+(?:\.\d+)?", text)]
    value, low, high = [*numbers, None, None, None][:3]
    return Cell(value, low, high, digits)


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
