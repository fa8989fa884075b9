"""Reads and writes JSON Lines, plain or gzipped; each line knows its file and number, for error messages."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from citewell.core.errors import InputError

T = TypeVar("T")


class Line(NamedTuple):
    """One line of a file, without its end; `number` counts from 1."""

    file: Path
    number: int
    text: str

    def error(self, problem: str, hint: str = "") -> InputError:
        """Return an error whose message names the file and the line."""
        return InputError(f"{self.file}, line {self.number:,}: {problem}", hint)

    def row(self) -> dict[str, Any]:
        """Return the JSON object of the line. Raises `InputError` if the line is anything else."""
        try:
            value = json.loads(self.text)
        except (ValueError, RecursionError) as error:
            raise self.error(f"not valid JSON: {error}.", "Write one JSON object per line.") from error
        if not isinstance(value, dict):
            raise self.error("not a JSON object.", "Write one JSON object per line.")
        return value

    def value(self, of: type[T], what: str, hint: str) -> T:
        """Return the line decoded as an instance of `of`.

        Raises `InputError`, which calls the instance `what`.
        """
        try:
            return msgspec.json.decode(self.text, type=of)
        except msgspec.DecodeError as error:
            raise self.error(f"not a valid {what}: {error}.", hint) from error


def write_values(values: Iterable[object], file: Path) -> None:
    """Write dataclass instances as JSON Lines, for `Line.value` to read."""
    with file.open("wb") as out:
        for value in values:
            out.write(msgspec.json.encode(value) + b"\n")


def read_lines(file: Path, report: Callable[[InputError], object] | None = None) -> Iterator[Line]:
    """Yield the non-blank lines of a UTF-8 file; a `.gz` file is decompressed.

    Raises `InputError` if the file is unreadable, truncated or not UTF-8. With `report`, a line that is not
    UTF-8 is passed to it and skipped.
    """
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    problem = InputError(f"{file}, line {number:,}: not UTF-8.", "Convert the file to UTF-8.")
                    if report is None:
                        raise problem from error
                    report(problem)
                    continue
                if text.strip():
                    yield Line(file, number, text)
    except EOFError as error:
        raise InputError(
            f"{file} is truncated: the compressed file ends after line {number:,}.",
            "Copy or download the file again.",
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{file} cannot be decompressed: {error}.", "If it is not a gzip file, remove .gz from its name."
        ) from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.", "Check its path.") from error


def plain_or_gzipped(file: Path) -> Path:
    """`file`, or the same name with `.gz` if only that exists."""
    packed = file.with_name(f"{file.name}.gz")
    return packed if not file.exists() and packed.exists() else file
