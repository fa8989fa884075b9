"""Ratings: how people judge single references and answers, on scales of their own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select

from citewell.server.store.connection import Database
from citewell.server.store.tables import RATINGS


@dataclass(frozen=True)
class StoredRating:
    """One rater's scores of one item, by the names of the scales; `kind` says what kind of item it is."""

    id: str
    rater: str
    kind: str
    item: str
    scores: dict[str, int]
    created: datetime

    def exported(self) -> dict[str, Any]:
        """The rating as one row. `item` is the answer's id, for a reference with `#` and its number."""
        return vars(self) | {"created": self.created.isoformat()}


class Ratings:
    """The stored ratings. Each method raises `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, rating: StoredRating) -> None:
        """Store a rating for good: it is on the disk when this returns."""
        await self._database.change(insert(RATINGS).values(vars(rating)))

    async def add_all(self, ratings: Sequence[StoredRating]) -> None:
        """Store several ratings, all of them or, where that fails, none."""
        await self._database.change(insert(RATINGS).values([vars(rating) for rating in ratings]))

    async def items_of(self, rater: str) -> set[str]:
        """Return what a rater has rated."""
        statement = select(RATINGS.c.item).where(RATINGS.c.rater == rater).distinct()
        return {row["item"] for row in await self._database.rows(statement)}

    async def each(self) -> AsyncGenerator[StoredRating]:
        """All ratings, oldest first, read bit by bit."""
        async for row in self._database.each(select(RATINGS), RATINGS.c.id):
            yield StoredRating(**row)
