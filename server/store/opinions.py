"""Stored comparisons and rankings: opinions on several answers to one question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from sqlalchemy import Insert, RowMapping, Table, exists, insert, select

from citewell.server.store.connection import Database
from citewell.server.store.raters import Pseudonyms


@dataclass(frozen=True, kw_only=True)
class UserOpinions:
    """The opinion of one user on several answers, objects `{text, references, answer_id | None, system}`.

    In a study it belongs to an item, and `rater` says whose it is; elsewhere the key does.
    """

    id: str
    key_id: str | None
    rater: str | None = None
    study_item_id: str | None = None
    question: str
    answers: Sequence[Mapping[str, Any]]
    comment: str
    created: datetime

    def origin(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the part of an export that says who gave the opinion, where and when."""
        rater = self.rater or (f"key {self.key_id}" if self.key_id else None)
        return {
            "rater": pseudonyms.of(rater),
            "study_item_id": self.study_item_id,
            "comment": self.comment or None,
            "created": self.created.isoformat(),
        }


T = TypeVar("T", bound=UserOpinions)


class Opinions(Generic[T]):
    """The stored opinions of one kind. Each method raises `StoreError` if the database fails."""

    table: ClassVar[Table]
    kind: type[T]

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, opinion: T) -> None:
        """Store an opinion durably: it is on disk when this returns."""
        await self._database.change(self.adding(opinion))

    def adding(self, opinion: T) -> Insert:
        """Return the change that stores an opinion."""
        values = vars(opinion) | {"answers": [dict(answer) for answer in opinion.answers]}
        return insert(self.table).values(values)

    async def of_questions(self, key_id: str | None, questions: Collection[str]) -> list[T]:
        """Return the opinions on some questions that were given with a key or, if it is None, without one."""
        columns = self.table.c
        statement = (
            select(self.table)
            .where(columns.key_id.is_not_distinct_from(key_id), columns.question.in_(questions))
            .order_by(columns.id)
        )
        return [self._read(row) for row in await self._database.rows(statement)]

    async def of_items(self, items: Collection[str]) -> list[T]:
        """Return the opinions on items of studies, oldest first."""
        columns = self.table.c
        statement = select(self.table).where(columns.study_item_id.in_(items)).order_by(columns.id)
        return [self._read(row) for row in await self._database.rows(statement)]

    async def raters_elsewhere(self) -> set[str]:
        """Return the raters with a key who gave opinions outside of studies."""
        columns = self.table.c
        statement = select(columns.key_id).where(columns.study_item_id.is_(None)).distinct()
        rows = await self._database.rows(statement.where(columns.key_id.is_not(None)))
        return {f"key {row['key_id']}" for row in rows}

    async def each(self) -> AsyncGenerator[T]:
        """Yield all opinions, oldest first, read in batches; of a rater on an item of a study, the last."""
        columns, later = self.table.c, self.table.alias("later")
        is_replaced = exists().where(
            later.c.study_item_id == columns.study_item_id,
            later.c.rater == columns.rater,
            later.c.id > columns.id,
        )
        async for row in self._database.each(select(self.table).where(~is_replaced), columns.id):
            yield self._read(row)

    def _read(self, row: RowMapping) -> T:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
        }
        return self.kind(**values)
