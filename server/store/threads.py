"""Conversations: answers of the same `thread`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select, update

from citewell.server.store.answers import ANSWER_COLUMNS, StoredAnswer, read_answer
from citewell.server.store.connection import Database
from citewell.server.store.tables import ANSWERS


@dataclass(frozen=True, kw_only=True)
class StoredThread:
    """A conversation, by its name or first question; `updated` is when its last question was asked."""

    id: str
    title: str
    questions: int
    created: datetime
    updated: datetime


class ThreadStore:
    """The stored conversations. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def answers(self, thread: str, key_id: str | None) -> list[StoredAnswer]:
        """Return the answers of a conversation, oldest first: those of one key or, with None, of all."""
        statement = select(*ANSWER_COLUMNS).where(*_in_thread(thread, key_id)).order_by(ANSWERS.c.id)
        return [read_answer(row) for row in await self._database.rows(statement)]

    async def page(self, key_id: str | None, limit: int, before: str | None = None) -> list[StoredThread]:
        """Return the conversations with the newest questions, at most `limit`; see `answers` for `key_id`.

        `before` skips that conversation and all with newer questions.
        """
        rows, newest_of = ANSWERS.alias(), func.max(ANSWERS.c.id)
        found = (
            select(ANSWERS.c.thread, func.min(ANSWERS.c.id).label("first"), newest_of.label("last"))
            .add_columns(func.count().label("questions"), func.max(ANSWERS.c.created).label("updated"))
            .where(ANSWERS.c.mode != "demonstration")
            .group_by(ANSWERS.c.thread)
            .order_by(newest_of.desc())
            .limit(limit)
        )
        if key_id is not None:
            found = found.where(ANSWERS.c.key_id == key_id)
        if before is not None:
            last = select(func.max(rows.c.id)).where(rows.c.thread == before)
            last = last if key_id is None else last.where(rows.c.key_id == key_id)
            found = found.having(newest_of < func.coalesce(last.scalar_subquery(), before))
        page = found.subquery()
        statement = (
            select(page, ANSWERS.c.question, ANSWERS.c.title, ANSWERS.c.created)
            .join(ANSWERS, ANSWERS.c.id == page.c.first)
            .order_by(page.c.last.desc())
        )
        return [
            StoredThread(
                id=row["thread"],
                title=row["title"] or row["question"],
                questions=row["questions"],
                created=row["created"],
                updated=row["updated"],
            )
            for row in await self._database.rows(statement)
        ]

    async def rename(self, thread: str, key_id: str | None, title: str) -> bool:
        """Name a conversation; returns False if it does not exist."""
        change = update(ANSWERS).where(*_in_thread(thread, key_id)).values(title=title)
        return await self._database.change(change) > 0

    async def delete(self, thread: str, key_id: str | None) -> bool:
        """Delete the answers of a conversation; returns False if it does not exist."""
        return await self._database.change(delete(ANSWERS).where(*_in_thread(thread, key_id))) > 0


def _in_thread(thread: str, key_id: str | None) -> tuple[ColumnElement[bool], ...]:
    own = () if key_id is None else (ANSWERS.c.key_id == key_id,)
    return (ANSWERS.c.thread == thread, *own)
