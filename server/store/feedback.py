"""Stored feedback: thumbs, comments, and sentences that people found unsupported."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import RowMapping, insert, select

from citewell.server.store.connection import Database
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.tables import FEEDBACK


@dataclass(frozen=True)
class StoredFeedback:
    """The feedback of one user on one answer, with a copy of the answer that the user saw.

    `thumb` is 1, -1, or 0 if there is only a comment or a sentence; `sentence` is the number of the sentence
    that is not supported, from 0. `references` are texts.
    """

    id: str
    answer_id: str
    key_id: str | None
    thumb: Literal[1, 0, -1]
    comment: str
    sentence: int | None
    created: datetime
    question: str
    answer: str
    references: Sequence[str]

    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the row that `citewell train scorer` reads as a thumb.

        Without a thumb its `thumbs` is None, and training skips it.
        """
        return {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "references": list(self.references),
            "thumbs": self.thumb or None,
            "sentence": self.sentence,
            "rater": pseudonyms.of(f"key {self.key_id}" if self.key_id else None),
            "comment": self.comment or None,
            "created": self.created.isoformat(),
        }


class FeedbackStore:
    """The stored feedback. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, feedback: StoredFeedback) -> None:
        """Store feedback durably: it is on disk when this returns."""
        values = vars(feedback) | {"references": list(feedback.references)}
        await self._database.change(insert(FEEDBACK).values(values))

    async def of_answer(self, answer_id: str) -> list[StoredFeedback]:
        """Return the feedback on an answer, oldest first, even if the answer was deleted."""
        statement = select(FEEDBACK).where(FEEDBACK.c.answer_id == answer_id).order_by(FEEDBACK.c.id)
        return [_feedback(row) for row in await self._database.rows(statement)]

    async def each(self) -> AsyncGenerator[StoredFeedback]:
        """Yield all feedback, oldest first, read in batches."""
        async for row in self._database.each(select(FEEDBACK), FEEDBACK.c.id):
            yield _feedback(row)


def _feedback(row: RowMapping) -> StoredFeedback:
    return StoredFeedback(**{**row, "references": tuple(row["references"])})
