"""Questions whose accepted answers are known."""

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
    """The first questions of a file of JSON lines `{"question", "answers"}`; other keys are passed over.

    A question that occurs twice is there once, with the answers that it has first.
    Raises `InputError` for a file that cannot be read or holds none, and for a line that is no question.
    """
    lines = islice(read_lines(file), limit)
    rows = [line.value(BrowsingQuestion, "question", _FORM) for line in lines]
    if not rows:
        raise InputError(f"{file} holds no questions.", _FORM)
    found: dict[str, BrowsingQuestion] = {}
    for row in rows:
        found.setdefault(row.question, row)
    return tuple(found.values())
