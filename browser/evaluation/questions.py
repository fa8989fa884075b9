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

    Raises `InputError` for a file that cannot be read or holds none, and for a line that is no question.
    """
    try:
        lines = [line for line in file.read_bytes().splitlines() if line.strip()][:limit]
        found = tuple(msgspec.json.decode(line, type=Asked) for line in lines)
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(
            f"{file} holds no questions: {error}", 'Lines are {"question": "…", "answers": ["…"]}.'
        ) from error
    if not found:
        raise InputError(f"{file} holds no questions.", 'Lines are {"question": "…", "answers": ["…"]}.')
    return found
