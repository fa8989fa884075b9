"""Earlier answers as the turns of a conversation."""

from __future__ import annotations

from collections.abc import Iterable

from citewell.core.types import Turn
from citewell.server.store.answers import StoredAnswer

_MOST = 8  # the newest ones


def turns_of(answers: Iterable[StoredAnswer]) -> tuple[Turn, ...]:
    """Return the finished questions, as they were rewritten, and what of their answers is supported."""
    turns = []
    for answer in answers:
        if answer.body is not None and answer.status == "done":
            sentences = answer.body.get("sentences", ())
            text = " ".join(each["text"] for each in sentences if each["supported"])
            turns.append(Turn(answer.body.get("rewritten") or answer.question, text))
    return tuple(turns[-_MOST:])
