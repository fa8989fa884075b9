"""Stored studies: questions with answers of several systems, which raters judge without knowing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, delete, func, insert, select

from citewell.server.store.connection import Database
from citewell.server.store.newest import newest
from citewell.server.store.tables import COMPARISONS, RANKINGS, RATINGS, STUDIES, STUDY_ITEMS

_BATCH = 1000  # items of a statement: PostgreSQL takes at most 65,535 values in one
_JUDGMENTS = (COMPARISONS, RANKINGS, RATINGS)


@dataclass(frozen=True, kw_only=True)
class StoredStudy:
    """A study with one form.

    `seed` decides every order, and which items need all parts of the form: a share `share_required` of them.
    A rater first gets `screening` gold items, and continues if a share `passing` of the judgments agree.
    """

    id: str
    name: str
    form: str
    seed: str
    share_required: float
    screening: int
    passing: float
    created: datetime


@dataclass(frozen=True, kw_only=True)
class StoredStudyItem:
    """A question with its answers, objects `{system, text, sentences, references}`.

    `gold` is the judgment that is known to be right, in the order of the answers, or None.
    """

    id: str
    study_id: str
    position: int
    question: str
    answers: Sequence[Mapping[str, Any]]
    gold: Mapping[str, Any] | None = None


class Studies:
    """The stored studies. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, study: StoredStudy, items: Sequence[StoredStudyItem]) -> None:
        """Store a study with its items: all or nothing."""
        rows = [vars(item) | {"answers": [dict(answer) for answer in item.answers]} for item in items]
        batches = [rows[first : first + _BATCH] for first in range(0, len(rows), _BATCH)]
        await self._database.change_all(
            [insert(STUDIES).values(vars(study)), *(insert(STUDY_ITEMS).values(batch) for batch in batches)]
        )

    async def get(self, id_: str) -> StoredStudy | None:
        """Return one study, or None."""
        rows = await self._database.rows(select(STUDIES).where(STUDIES.c.id == id_))
        return StoredStudy(**rows[0]) if rows else None

    async def page(self, limit: int, before: str | None = None) -> list[StoredStudy]:
        """Return the newest studies, at most `limit`; `before` skips that study and all newer ones."""
        rows = await self._database.rows(newest(STUDIES.c, STUDIES.c.id, limit, before))
        return [StoredStudy(**row) for row in rows]

    async def items(self, study_id: str) -> list[StoredStudyItem]:
        """Return the items of a study in their order."""
        statement = select(STUDY_ITEMS).where(STUDY_ITEMS.c.study_id == study_id)
        rows = await self._database.rows(statement.order_by(STUDY_ITEMS.c.position))
        return [_item(row) for row in rows]

    async def sizes(self) -> dict[str, int]:
        """Return the number of items of each study, by its id."""
        statement = select(STUDY_ITEMS.c.study_id, func.count().label("items"))
        rows = await self._database.rows(statement.group_by(STUDY_ITEMS.c.study_id))
        return {row["study_id"]: row["items"] for row in rows}

    async def judged_by(self, rater: str) -> set[str]:
        """Return the items that a rater has judged, of all studies."""
        found: set[str] = set()
        for table in _JUDGMENTS:
            statement = select(table.c.study_item_id).where(table.c.rater == rater)
            rows = await self._database.rows(statement.where(table.c.study_item_id.is_not(None)).distinct())
            found.update(row["study_item_id"] for row in rows)
        return found

    async def delete(self, id_: str) -> bool:
        """Delete a study with all its judgments; returns False if it does not exist."""
        items = select(STUDY_ITEMS.c.id).where(STUDY_ITEMS.c.study_id == id_)
        judgments = [delete(table).where(table.c.study_item_id.in_(items)) for table in _JUDGMENTS]
        own = delete(STUDY_ITEMS).where(STUDY_ITEMS.c.study_id == id_)
        *_, gone = await self._database.change_all(
            [*judgments, own, delete(STUDIES).where(STUDIES.c.id == id_)]
        )
        return gone > 0


def _item(row: RowMapping) -> StoredStudyItem:
    return StoredStudyItem(**{**row, "answers": tuple(row["answers"])})
