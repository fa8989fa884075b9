"""The history: questions with what they searched, and a mark for those without an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from citewell.core.settings import Settings
from citewell.server.pages.searched import searched
from citewell.server.store.answers import StoredAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRow:
    """A question of the history; `state` says why it has no answer, and is empty if it has one."""

    id: str
    thread: str
    question: str
    created: datetime
    seconds: float | None
    searched: str
    state: str


def history_rows(answers: Iterable[StoredAnswer], settings: Settings) -> list[HistoryRow]:
    """Return stored questions as rows of the history, in their order."""
    return [_row(answer, settings) for answer in answers]


def _row(answer: StoredAnswer, settings: Settings) -> HistoryRow:
    body = answer.body or {}
    state: str = "" if answer.status == "done" else answer.status
    if body.get("outcome") == "no_evidence":
        state = "no evidence"
    return HistoryRow(
        id=answer.id,
        thread=answer.thread,
        question=answer.question,
        created=answer.created,
        seconds=answer.seconds,
        searched=searched(settings, answer.settings, body.get("rewritten") or answer.question),
        state=state,
    )
