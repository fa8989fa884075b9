"""Questions with known accepted answers."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import msgspec

from citewell.core.errors import InputError
from citewell.core.jsonl import read_lines

_FORM = 'Lines are {"question": "…", "answers": ["…"]}.'


class BrowsingQuestion(msgspec.Struct, frozen=True):
    """A question with accepted answers."""

    question: str
    answers: tuple[str, ...]


def read_questions(file: Path, limit: int | None = None) -> tuple[BrowsingQuestion, ...]:
    """Read the first questions of a file of JSON lines `{"question", "answers"}`; other keys are ignored.

    Of a repeated question, only the first line counts. Raises `InputError` for a file that cannot be read or
    has no question, and for an invalid line.
    """
    lines = islice(read_lines(file), limit)
    rows = [line.value(BrowsingQuestion, "question", _FORM) for line in lines]
    if not rows:
        raise InputError(f"{file} holds no questions.", _FORM)
    found: dict[str, BrowsingQuestion] = {}
    for row in rows:
        found.setdefault(row.question, row)
    return tuple(found.values())
