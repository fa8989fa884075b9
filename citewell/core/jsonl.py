"""Lines of plain and gzipped text files, each of which knows where it stands, for errors that say so."""

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
        """An error that names the file and the line."""
        return InputError(f"{self.file}, line {self.number:,}: {problem}", hint)

    def row(self) -> dict[str, Any]:
        """The JSON object of the line; raises `InputError` where it is none."""
        try:
            value = json.loads(self.text)
        except ValueError as error:
            raise self.error(f"this is not JSON: {error}.", "Write one JSON object a line.") from error
        if not isinstance(value, dict):
            raise self.error("this is no JSON object.", "Write one JSON object a line.")
        return value

    def value(self, of: type[T], what: str, hint: str) -> T:
        """The JSON of the line as a value of a class; raises `InputError` with `what` it is not."""
        try:
            return msgspec.json.decode(self.text, type=of)
        except msgspec.DecodeError as error:
            raise self.error(f"this is no {what}: {error}.", hint) from error


def write_values(values: Iterable[object], file: Path) -> None:
    """Write values of dataclasses, one JSON object a line, for `Line.value` to read."""
    with file.open("wb") as out:
        for value in values:
            out.write(msgspec.json.encode(value) + b"\n")


def read_lines(file: Path, report: Callable[[InputError], object] | None = None) -> Iterator[Line]:
    """The lines of a UTF-8 file that are not blank; a file that ends in `.gz` is decompressed.

    Raises `InputError` where the file cannot be read, is cut short, or has a line that is not UTF-8; with
    `report`, that is told of such a line instead, which is left out.
    """
    number = 0
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    problem = InputError(f"{file}, line {number:,}: this is not UTF-8.", "Convert the file.")
                    if report is None:
                        raise problem from error
                    report(problem)
                    continue
                if text.strip():
                    yield Line(file, number, text)
    except EOFError as error:
        raise InputError(
            f"{file} is cut short: the compressed file ends after line {number:,}.",
            "Copy or download the file again.",
        ) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"{file} cannot be decompressed: {error}.", "Check that it is a gzip file, or take .gz away."
        ) from error
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.", "Check its path.") from error


def either(file: Path) -> Path:
    """`file`, or the same with `.gz` at its end where only that exists."""
    packed = file.with_name(f"{file.name}.gz")
    return packed if not file.exists() and packed.exists() else file
