"""The lengths that the header of a GGUF file names, compared with the file before a library follows them.

The form is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of a value by its type
_STRING, _ARRAY = 8, 9
_START = struct.calcsize("<4sIQQ")


def check_header(file: Path) -> None:
    """Raise `ValueError` for a header that names more than the file has, and for arrays of arrays."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        header = _Header(data)
        try:
            header.check()
        except (struct.error, OverflowError):
            raise ValueError("its header ends early") from None


class _Header:
    """The header of a file, read from its beginning."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        # Files for processors that read the highest byte first have the version in the higher half.
        is_little = len(data) < _START or data[4] or data[5]
        self._order = "<" if is_little else ">"
        self._place = 8

    def check(self) -> None:
        """Walk through all names and values."""
        _, pairs = self._read("Q"), self._read("Q")
        for _ in range(pairs):
            self._skip_text()
            self._skip_value(self._read("I"))

    def _read(self, kind: str) -> int:
        (value,) = struct.unpack_from(self._order + kind, self._data, self._place)
        self._skip(struct.calcsize(self._order + kind))
        return int(value)

    def _skip(self, count: int) -> None:
        self._place += count
        if self._place > len(self._data):
            raise ValueError(f"its header names {self._place:,} bytes of {len(self._data):,}")

    def _skip_text(self) -> None:
        self._skip(self._read("Q"))

    def _skip_value(self, kind: int) -> None:
        if kind == _STRING:
            self._skip_text()
        elif kind == _ARRAY:
            self._skip_array(self._read("I"), self._read("Q"))
        else:
            self._skip(self._size(kind))

    def _skip_array(self, kind: int, count: int) -> None:
        if kind != _STRING:
            self._skip(count * self._size(kind))
            return
        for _ in range(count):
            self._skip_text()

    def _size(self, kind: int) -> int:
        if kind not in _SIZES:
            raise ValueError(f"its header has a value of the type {kind}")
        return _SIZES[kind]
