"""What converters share: rows as JSON, ids made of questions, and the rows that the figures used."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

SPACED = (", ", ": ")
"""The separators of the sets that were made for reading and judging sentences."""

CHOSEN = Path(__file__).parent / "chosen"


def lines(rows: Iterable[Row], separators: tuple[str, str] = (",", ":")) -> Iterator[str]:
    """Yield each row as a line of JSON, without spaces by default."""
    for row in rows:
        text = json.dumps(row, ensure_ascii=False, separators=separators)
        yield text.replace("\u2028", r"\u2028").replace("\u2029", r"\u2029")  # some readers end a line there


def tsv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield a header and rows, their cells separated by tabs."""
    for row in (header, *rows):
        yield "\t".join(str(cell) for cell in row)


def question_id(question: str, digits: int = 10) -> str:
    """Return an id that stays the same if only a question's case and punctuation change."""
    return sha1(words(question), digits)


def words(text: str) -> str:
    """Return a text's words in lower case, without punctuation."""
    return re.sub(r"[\W_]+", " ", text.lower()).strip()


def sha1(text: str, digits: int = 10) -> str:
    """Return the first hexadecimal digits of a text's SHA-1."""
    return hashlib.sha1(text.encode()).hexdigest()[:digits]


def one_line(text: str) -> str:
    """Return a text with one space for each run of white space."""
    return " ".join(text.split())


def chosen_names(name: str) -> list[str]:
    """Return what `chosen/NAME.txt` lists: the part of a data set that the figures used, in its order."""
    return (CHOSEN / f"{name}.txt").read_text(encoding="utf-8").split()


def chosen(name: str, rows: Iterable[Row], digits: int | None = None) -> Iterator[Row]:
    """Yield the rows whose ids end as `chosen/NAME.txt` says, in its order.

    Where `digits` is given, the list names only so many first digits of what follows an id's last hyphen.
    """
    by_end: dict[str, Row] = {}
    for row in rows:
        by_end.setdefault(row["id"].rpartition("-")[2][:digits], row)
    for end in chosen_names(name):
        if end in by_end:  # a missing row changes the sum of the file
            yield by_end[end]
