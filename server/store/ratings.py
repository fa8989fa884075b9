"""Stored ratings of single references and answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Insert, exists, insert, select

from citewell.server.store.connection import Database
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.tables import RATINGS


@dataclass(frozen=True)
class StoredRating:
    """The scores that a rater gave to one item, by scale; `kind` is the kind of item.

    `system` wrote the answer, if that is known.
    """

    id: str
    rater: str
    kind: str
    item: str
    scores: dict[str, int]
    created: datetime
    system: str | None = None
    study_item_id: str | None = None

    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the rating as one row.

        `item` is the answer's id, or the id of the study's item with `/` and the number of the answer, from
        0; for a reference with `#` and its number.
        """
        changed = {"rater": pseudonyms.of(self.rater), "created": self.created.isoformat()}
        return vars(self) | changed


class Ratings:
    """The stored ratings. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, rating: StoredRating) -> None:
        """Store a rating durably: it is on disk when this returns."""
        await self._database.change(insert(RATINGS).values(vars(rating)))

    async def add_all(self, ratings: Sequence[StoredRating]) -> None:
        """Store several ratings: all of them or, on failure, none."""
        await self._database.change(self.adding(ratings))

    def adding(self, ratings: Sequence[StoredRating]) -> Insert:
        """Return the change that stores several ratings."""
        return insert(RATINGS).values([vars(rating) for rating in ratings])

    async def of_items(self, items: Collection[str]) -> list[StoredRating]:
        """Return the ratings of items of studies, oldest first."""
        statement = select(RATINGS).where(RATINGS.c.study_item_id.in_(items)).order_by(RATINGS.c.id)
        return [StoredRating(**row) for row in await self._database.rows(statement)]

    async def items_of(self, rater: str) -> set[str]:
        """Return the items that a rater has rated."""
        statement = select(RATINGS.c.item).where(RATINGS.c.rater == rater).distinct()
        return {row["item"] for row in await self._database.rows(statement)}

    async def each(self) -> AsyncGenerator[StoredRating]:
        """Yield all ratings, oldest first, read in batches; of a rater on an item, the last."""
        columns, later = RATINGS.c, RATINGS.alias("later")
        is_replaced = exists().where(
            later.c.kind == columns.kind,
            later.c.item == columns.item,
            later.c.rater == columns.rater,
            later.c.id > columns.id,
        )
        async for row in self._database.each(select(RATINGS).where(~is_replaced), columns.id):
            yield StoredRating(**row)
