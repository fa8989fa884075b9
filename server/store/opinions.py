"""Stored comparisons and rankings: opinions on several answers to one question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import RowMapping, Table, insert, select

from citewell.server.store.connection import Database


@dataclass(frozen=True)
class UserOpinions:
    """The opinion of one user on several answers, objects `{text, references, answer_id | None}`."""

    id: str
    key_id: str | None
    question: str
    answers: Sequence[Mapping[str, Any]]
    comment: str
    created: datetime


T = TypeVar("T", bound=UserOpinions)


class Opinions(Generic[T]):
    """The stored opinions of one kind. Each method raises `StoreError` if the database fails."""

    table: ClassVar[Table]
    kind: type[T]

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, opinion: T) -> None:
        """Store an opinion durably: it is on disk when this returns."""
        values = vars(opinion) | {"answers": [dict(answer) for answer in opinion.answers]}
        await self._database.change(insert(self.table).values(values))

    async def of_questions(self, key_id: str | None, questions: Collection[str]) -> list[T]:
        """Return the opinions on some questions that were given with a key or, if it is None, without one."""
        columns = self.table.c
        statement = (
            select(self.table)
            .where(columns.key_id.is_not_distinct_from(key_id), columns.question.in_(questions))
            .order_by(columns.id)
        )
        return [self._read(row) for row in await self._database.rows(statement)]

    async def each(self) -> AsyncGenerator[T]:
        """Yield all opinions, oldest first, read in batches."""
        async for row in self._database.each(select(self.table), self.table.c.id):
            yield self._read(row)

    def _read(self, row: RowMapping) -> T:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return self.kind(**values)
