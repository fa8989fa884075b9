"""Rows that a long run appends to a file, and that the next run reads to go on where it ended."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citewell.core.errors import InputError
from citewell.core.jsonl import Line, read_lines


class RowLog:
    """A file of JSON objects, one per line. A row is complete once its line end is on the disk.

    A process that is killed while it writes leaves at most the beginning of a line, which the next one cuts
    off.
    """

    def __init__(self, file: Path) -> None:
        """The file need not exist yet. Raises `InputError` if it cannot be read."""
        self._file = file
        self._repair()

    @property
    def lines(self) -> list[Line]:
        """The lines of the file. Raises `InputError` if it cannot be read."""
        return list(read_lines(self._file)) if self._file.exists() else []

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the file. Raises `InputError` for a line that is not a JSON object."""
        return [line.row() for line in self.lines]

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Append rows; when this returns, they are on the disk.

        Raises `InputError` if the file cannot be written.
        """
        try:
            with self._file.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self._file} cannot be written: {error.strerror}.") from error

    def _repair(self) -> None:
        if not self._file.exists():
            return
        try:
            content = self._file.read_bytes()
            whole = content.rfind(b"\n") + 1
            if whole < len(content):
                os.truncate(self._file, whole)
        except OSError as error:
            raise InputError(f"{self._file} cannot be read: {error.strerror}.") from error
