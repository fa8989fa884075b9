"""Comparisons: which of two answers to a question people prefer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, insert, select

from server.store.connection import Database
from server.store.tables import COMPARISONS


@dataclass(frozen=True)
class StoredComparison:
    """One user's comparison of two answers, as in WebGPT (appendix C.2, https://arxiv.org/abs/2112.09332).

    `answers` are two objects `{text, references, answer_id | None}`. The four ratings go from -2, the first
    answer is much better, by 0, both are equally good, to 2, the second is much better; in `unsupported`,
    better is the answer with less information that its references do not support.
    """

    id: str
    key_id: str | None
    question: str
    answers: Sequence[Mapping[str, Any]]
    usefulness: int
    coherence: int
    unsupported: int
    overall: int
    comment: str
    created: datetime

    def exported(self) -> dict[str, Any]:
        """The row that `citewell train scorer` reads as a choice; the overall rating decides it."""
        preferred: int | str = "tie" if self.overall == 0 else int(self.overall > 0)
        return {
            "id": self.id,
            "question": self.question,
            "answers": [dict(answer) for answer in self.answers],
            "preferred": preferred,
            "usefulness": self.usefulness,
            "coherence": self.coherence,
            "unsupported": self.unsupported,
            "overall": self.overall,
            "comment": self.comment,
            "created": self.created.isoformat(),
        }


class Comparisons:
    """The stored comparisons. Each method raises `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, comparison: StoredComparison) -> None:
        """Store a comparison for good: it is on the disk when this returns."""
        values = vars(comparison) | {"answers": [dict(answer) for answer in comparison.answers]}
        await self._database.change(insert(COMPARISONS).values(values))

    async def of_questions(self, key_id: str | None, questions: Collection[str]) -> list[StoredComparison]:
        """Return what a key has compared, or who needs no key where it is None, of some questions."""
        statement = (
            select(COMPARISONS)
            .where(COMPARISONS.c.key_id.is_not_distinct_from(key_id), COMPARISONS.c.question.in_(questions))
            .order_by(COMPARISONS.c.id)
        )
        return [_comparison(row) for row in await self._database.rows(statement)]

    async def each(self) -> AsyncGenerator[StoredComparison]:
        """All comparisons, oldest first, read bit by bit."""
        async for row in self._database.each(select(COMPARISONS), COMPARISONS.c.id):
            yield _comparison(row)


def _comparison(row: RowMapping) -> StoredComparison:
    return StoredComparison(**{**row, "answers": tuple(row["answers"])})
