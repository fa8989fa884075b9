"""Outcomes of rows that finished before an earlier row did, kept until the journal has them.

The journal is in the order of the tasks. What a teacher was paid for would otherwise be lost with a
run that is interrupted while a slow row holds the others back.
"""

from __future__ import annotations

import os
from collections.abc import Collection

import msgspec

from citewell.bootstrap.journal import Journal, writing
from citewell.bootstrap.types import Fault, Outcome

FILE = "ahead.jsonl"


class Ahead:
    """The file `outcomes/ahead.jsonl` of a run. Faults are not kept: such a row is tried again."""

    def __init__(self, journal: Journal) -> None:
        """Nothing is read yet."""
        self._file = journal.folder / FILE
        self._kept: dict[str, Outcome] = {}

    def exists(self) -> bool:
        """Return whether there may be outcomes."""
        return self._file.exists()

    def open(self, stored: Collection[str]) -> None:
        """Read the outcomes, and drop those with `stored` keys, which the journal has, from the file.

        A line that was cut off is dropped too. Raises `CitewellError` if the file cannot be written.
        """
        if not self.exists():
            return
        kept: dict[str, bytes] = {}
        for line in self._file.read_bytes().splitlines(keepends=True):
            try:
                outcome = msgspec.json.decode(line, type=Outcome)
            except msgspec.DecodeError:
                continue
            if outcome.key not in stored:
                self._kept[outcome.key] = outcome
                kept[outcome.key] = line
        with writing(self._file.parent):
            partial = self._file.with_name(f".{FILE}.partial")
            partial.write_bytes(b"".join(kept.values()))
            partial.replace(self._file)

    def pop(self, key: str) -> Outcome | None:
        """Return the outcome of a row, if it is kept; the file keeps it until it is opened again."""
        return self._kept.pop(key, None)

    def keep(self, outcome: Outcome) -> None:
        """Add an outcome; when this returns, it is on the disk. Raises `CitewellError` if it cannot be."""
        if isinstance(outcome, Fault):
            return
        with writing(self._file.parent):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as file:
                file.write(msgspec.json.encode(outcome) + b"\n")
                file.flush()
                os.fsync(file.fileno())

    def close(self) -> None:
        """Delete the file, once the journal has all outcomes."""
        self._file.unlink(missing_ok=True)
