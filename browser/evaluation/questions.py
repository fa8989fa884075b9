"""Questions whose accepted answers are known."""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.errors import InputError


class Asked(msgspec.Struct, frozen=True):
    """A question with accepted answers."""

    question: str
    answers: tuple[str, ...]


def read_questions(file: Path, limit: int | None = None) -> tuple[Asked, ...]:
    """The first questions of a file of JSON lines `{"question", "answers"}`; other keys are passed over.

    A question that occurs twice is there once, with the answers that it has first.
    Raises `InputError` for a file that cannot be read or holds none, and for a line that is no question.
    """
    try:
        lines = [line for line in file.read_bytes().splitlines() if line.strip()][:limit]
        rows = [msgspec.json.decode(line, type=Asked) for line in lines]
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise InputError(
            f"{file} holds no questions: {error}", 'Lines are {"question": "…", "answers": ["…"]}.'
        ) from error
    if not rows:
        raise InputError(f"{file} holds no questions.", 'Lines are {"question": "…", "answers": ["…"]}.')
    found: dict[str, Asked] = {}
    for row in rows:
        found.setdefault(row.question, row)
    return tuple(found.values())
