"""Rankings: in which order people put several answers to a question."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, insert, select

from server.store.connection import Database
from server.store.tables import RANKINGS


@dataclass(frozen=True)
class StoredRanking:
    """One user's ranking of K answers, as in InstructGPT (§3.4, https://arxiv.org/abs/2203.02155).

    `answers` are objects `{text, references, answer_id | None}`, and `ranks` their ranks in the same order: 1
    is the best, and equal ranks are ties.
    """

    id: str
    key_id: str | None
    question: str
    answers: Sequence[Mapping[str, Any]]
    ranks: Sequence[int]
    comment: str
    created: datetime

    def exported(self) -> dict[str, Any]:
        """The row that `citewell train scorer` reads as a ranking.

        Such a row has one list of references: those of all answers, each once. Which answer had which stands
        in `sources`.
        """
        references = dict.fromkeys(text for answer in self.answers for text in answer["references"])
        return {
            "id": self.id,
            "question": self.question,
            "answers": [answer["text"] for answer in self.answers],
            "ranks": list(self.ranks),
            "references": list(references),
            "sources": [
                {"answer_id": answer["answer_id"], "references": list(answer["references"])}
                for answer in self.answers
            ],
            "comment": self.comment,
            "created": self.created.isoformat(),
        }


class Rankings:
    """The stored rankings. Each method raises `StoreError` where the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, ranking: StoredRanking) -> None:
        """Store a ranking for good: it is on the disk when this returns."""
        values = vars(ranking) | {
            "answers": [dict(answer) for answer in ranking.answers],
            "ranks": list(ranking.ranks),
        }
        await self._database.change(insert(RANKINGS).values(values))

    async def of_questions(self, key_id: str | None, questions: Collection[str]) -> list[StoredRanking]:
        """Return what a key has ranked, or who needs no key where it is None, of some questions."""
        statement = (
            select(RANKINGS)
            .where(RANKINGS.c.key_id.is_not_distinct_from(key_id), RANKINGS.c.question.in_(questions))
            .order_by(RANKINGS.c.id)
        )
        return [_ranking(row) for row in await self._database.rows(statement)]

    async def each(self) -> AsyncGenerator[StoredRanking]:
        """All rankings, oldest first, read bit by bit."""
        async for row in self._database.each(select(RANKINGS), RANKINGS.c.id):
            yield _ranking(row)


def _ranking(row: RowMapping) -> StoredRanking:
    return StoredRanking(**{**row, "answers": tuple(row["answers"]), "ranks": tuple(row["ranks"])})
