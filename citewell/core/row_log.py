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
    """A file of JSON objects, one per line.

    A process that is killed while it writes leaves at most the beginning of a line. It is not read, and cut
    off before the next row is written: reading changes no file. A whole last row may lack its line end.
    """

    def __init__(self, file: Path) -> None:
        """The file need not exist yet."""
        self._file = file
        self._is_whole = False  # that no line was cut off is known after the first row

    @property
    def lines(self) -> list[Line]:
        """The complete lines of the file. Raises `InputError` if it cannot be read."""
        content = self._content()
        complete = content.count(b"\n") + _is_row(_last(content))
        found: list[Line] = []
        for line in read_lines(self._file) if complete else ():
            if line.number <= complete:
                found.append(line)
            if line.number >= complete:  # what follows may end within a character
                break
        return found

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The complete rows of the file. Raises `InputError` for a line that is not a JSON object."""
        return [line.row() for line in self.lines]

    def append(self, *rows: Mapping[str, Any]) -> None:
        """Append rows; when this returns, they are on the disk.

        Raises `InputError` if the file cannot be written.
        """
        content = b"" if self._is_whole else self._content()
        last = _last(content)
        try:
            if last and not _is_row(last):
                os.truncate(self._file, len(content) - len(last))
            self._is_whole = True
            with self._file.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write("\n" if _is_row(last) else "")
                file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self._file} cannot be written: {error.strerror}.") from error

    def _content(self) -> bytes:
        try:
            return self._file.read_bytes() if self._file.exists() else b""
        except OSError as error:
            raise InputError(f"{self._file} cannot be read: {error.strerror}.") from error


def _last(content: bytes) -> bytes:
    """Return what follows the last line end."""
    return content[content.rfind(b"\n") + 1 :]


def _is_row(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
