"""Stored questions with their answers or problems."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import RowMapping, delete, func, insert, select, update

from citewell.server.store.connection import Database
from citewell.server.store.newest import newest
from citewell.server.store.owners import STOPPED, is_lost, this_process
from citewell.server.store.tables import ANSWERS

AnswerStatus = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class StoredAnswer:
    """A question and its outcome.

    `body` is `citewell.core.types.Answer.to_json()` of a finished answer, `problem` the RFC 9457 object of a
    failed one, and `seconds` the time it took. `settings` are the options of the request. Answers of equal
    `digest` answer the same question with the same options; `key_id` is the key that asked, if any.

    An answer whose process died is `failed`: at once on the same computer, elsewhere an hour after it was
    asked.

    `thread` is the id of the first question of its conversation, its own by default, and `title` the name of
    the conversation, if it was given one.
    """

    id: str
    key_id: str | None
    question: str
    mode: str
    status: AnswerStatus
    created: datetime
    seconds: float | None
    body: dict[str, Any] | None
    problem: dict[str, Any] | None
    settings: dict[str, Any]
    digest: str = ""
    thread: str = ""
    title: str | None = None

    def __post_init__(self) -> None:
        if not self.thread:
            object.__setattr__(self, "thread", self.id)


_RECENT = 2_000  # answers searched for repeated questions
ANSWER_COLUMNS = [*(ANSWERS.c[name] for name in StoredAnswer.__dataclass_fields__), ANSWERS.c.owner]


class AnswerStore:
    """The stored answers. Each method raises `StoreError` if the database fails.

    Storing an answer does not wait for the disk, since the question can be asked again: a power failure may
    remove it from a SQLite file, unless feedback or other lasting data was stored after it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self, answer: StoredAnswer, episode: dict[str, Any] | None = None, *, lasting: bool = False
    ) -> None:
        """Store a new answer, finished or not; it belongs to this process until it is finished.

        A `lasting` one is on disk when this returns: a person's text cannot be generated again.
        """
        values = vars(answer) | {"folded": _folded(answer.question), "owner": this_process()}
        values["episode"] = episode
        await self._database.change(insert(ANSWERS).values(values), lasting=lasting)

    async def finish(
        self,
        id_: str,
        *,
        body: dict[str, Any] | None,
        problem: dict[str, Any] | None,
        status: AnswerStatus,
        seconds: float | None,
        episode: dict[str, Any] | None = None,
    ) -> bool:
        """Store the outcome of an answer; returns False if it was deleted in the meantime.

        `episode` is `citewell.browser.episode.Episode` as plain values, of an answer that was found by
        browsing.
        """
        values = {"body": body, "problem": problem, "status": status, "seconds": seconds, "episode": episode}
        change = update(ANSWERS).where(ANSWERS.c.id == id_).values(values)
        changed = await self._database.change(change, lasting=False)
        return changed > 0

    async def get(self, id_: str) -> StoredAnswer | None:
        """Return one answer, or None."""
        rows = await self._database.rows(select(*ANSWER_COLUMNS).where(ANSWERS.c.id == id_))
        return read_answer(rows[0]) if rows else None

    async def episode(self, id_: str) -> dict[str, Any] | None:
        """Return the episode of an answer, or None."""
        rows = await self._database.rows(select(ANSWERS.c.episode).where(ANSWERS.c.id == id_))
        return rows[0]["episode"] if rows else None

    async def page(
        self, key_id: str | None, limit: int, before: str | None = None, query: str = ""
    ) -> list[StoredAnswer]:
        """Return the newest answers, at most `limit`, of one key or, with None, of all callers.

        `before` skips that answer and all newer ones. `query` keeps the answers whose question has its words,
        in this order and in any case.
        """
        statement = newest(ANSWER_COLUMNS, ANSWERS.c.id, limit, before)
        if key_id is not None:
            statement = statement.where(ANSWERS.c.key_id == key_id)
        if query.strip():
            statement = statement.where(ANSWERS.c.folded.contains(_folded(query), autoescape=True))
        return [read_answer(row) for row in await self._database.rows(statement)]

    async def repeated(self, key_id: str | None, limit: int) -> list[list[StoredAnswer]]:
        """Return the finished answers of each question that has several, the newest first.

        Case and white space of questions are ignored. Only the newest answers are searched, and at most
        `limit` are returned in all: those of one key or, with None, of all callers.
        """
        recent = select(ANSWERS.c.id, ANSWERS.c.folded).where(ANSWERS.c.status == "done")
        if key_id is not None:
            recent = recent.where(ANSWERS.c.key_id == key_id)
        latest = recent.order_by(ANSWERS.c.id.desc()).limit(_RECENT).cte()
        again = select(latest.c.folded).group_by(latest.c.folded).having(func.count() > 1)
        statement = (
            select(*ANSWER_COLUMNS)
            .join(latest, latest.c.id == ANSWERS.c.id)
            .where(latest.c.folded.in_(again))
            .order_by(ANSWERS.c.id.desc())
            .limit(limit)
        )
        questions: dict[str, list[StoredAnswer]] = {}
        for answer in map(read_answer, await self._database.rows(statement)):
            questions.setdefault(_folded(answer.question), []).append(answer)
        return list(questions.values())

    async def delete(self, id_: str) -> bool:
        """Delete an answer, but not the feedback on it; returns False if it does not exist."""
        return await self._database.change(delete(ANSWERS).where(ANSWERS.c.id == id_)) > 0

    async def fresh(self, digest: str, key_id: str | None, since: datetime) -> StoredAnswer | None:
        """Return the newest finished answer of a digest that a key asked for at `since` or later, or None.

        That of another key would tell what it asked.

        An answer from the future does not count: the clock was set back, and its age is unknown.
        """
        times = ANSWERS.c.created.between(since, datetime.now(UTC))
        statement = (
            select(*ANSWER_COLUMNS)
            .where(ANSWERS.c.digest == digest, ANSWERS.c.key_id == key_id)
            .where(ANSWERS.c.status == "done", times)
            .order_by(ANSWERS.c.created.desc())
            .limit(1)
        )
        rows = await self._database.rows(statement)
        return read_answer(rows[0]) if rows else None


def read_answer(row: RowMapping) -> StoredAnswer:
    """Return the answer of a row with `ANSWER_COLUMNS`."""
    values = dict(row)
    owner = values.pop("owner")
    answer = StoredAnswer(**values)
    if answer.status == "running" and is_lost(owner, answer.created):
        return replace(answer, status="failed", problem=STOPPED)
    return answer


def _folded(text: str) -> str:
    """Return a text in lower case, in one Unicode form and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
