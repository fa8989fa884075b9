"""The history by day: questions with what they searched, and a mark for those without an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import groupby

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


@dataclass(frozen=True, slots=True)
class HistoryDay:
    """The questions of a day (UTC), newest first."""

    day: date
    rows: tuple[HistoryRow, ...]


def history_days(answers: Iterable[StoredAnswer], settings: Settings) -> tuple[HistoryDay, ...]:
    """Return stored questions, newest first, by day."""
    rows = (_row(answer, settings) for answer in answers)
    days = groupby(rows, key=lambda row: row.created.astimezone(UTC).date())
    return tuple(HistoryDay(day, tuple(of_day)) for day, of_day in days)


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
