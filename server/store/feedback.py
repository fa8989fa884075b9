"""Stored feedback: thumbs, comments, and sentences that people found unsupported."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import RowMapping, case, exists, insert, select

from citewell.server.store.connection import Database
from citewell.server.store.raters import Pseudonyms
from citewell.server.store.tables import FEEDBACK

_LATER = FEEDBACK.alias("later")
_IS_REPLACED = exists().where(
    _LATER.c.answer_id == FEEDBACK.c.answer_id,
    _LATER.c.id > FEEDBACK.c.id,
    _LATER.c.key_id.is_not_distinct_from(FEEDBACK.c.key_id),
    _LATER.c.sentence.is_(None),
    (_LATER.c.thumb != 0) | (_LATER.c.comment == ""),  # `is_vote`
)
_STANDING = select(
    *(column for column in FEEDBACK.c if column.name != "thumb"),
    case((_IS_REPLACED, 0), else_=FEEDBACK.c.thumb).label("thumb"),
)


@dataclass(frozen=True)
class StoredFeedback:
    """The feedback of one user on one answer, with a copy of the answer that the user saw.

    `thumb` is 1, -1, or 0: there is only a comment or a sentence, or the thumb was taken back. `sentence` is
    the number of the sentence that is not supported, from 0. `references` are texts.
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

    @property
    def is_vote(self) -> bool:
        """Whether this is a thumb for the whole answer, or takes one back."""
        return self.sentence is None and (self.thumb != 0 or not self.comment)

    def exported(self, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return the row that `citewell train scorer` reads as a thumb.

        Without a thumb for the whole answer its `thumbs` is None, and training skips it.
        """
        return {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "references": list(self.references),
            "thumbs": (self.thumb or None) if self.is_vote else None,
            "sentence": self.sentence,
            "rater": pseudonyms.of(f"key {self.key_id}" if self.key_id else None),
            "comment": self.comment or None,
            "created": self.created.isoformat(),
        }


class Opinion(NamedTuple):
    """What a user thinks of an answer: the thumb, or 0, and the numbers of the reported sentences."""

    thumb: int
    sentences: frozenset[int]


def opinion_of(feedback: Iterable[StoredFeedback], key_id: str | None) -> Opinion:
    """Return the opinion of the user with a key, from the feedback on an answer."""
    own = [each for each in feedback if each.key_id == key_id]
    thumb = next((each.thumb for each in own if each.is_vote and each.thumb), 0)
    return Opinion(thumb, frozenset(each.sentence for each in own if each.sentence is not None))


class FeedbackStore:
    """The stored feedback. Each method raises `StoreError` if the database fails.

    Of the votes of a user on an answer, all but the last are read with a thumb of 0.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, feedback: StoredFeedback) -> None:
        """Store feedback durably: it is on disk when this returns."""
        values = vars(feedback) | {"references": list(feedback.references)}
        await self._database.change(insert(FEEDBACK).values(values))

    async def of_answer(self, answer_id: str) -> list[StoredFeedback]:
        """Return the feedback on an answer, oldest first, even if the answer was deleted."""
        statement = _STANDING.where(FEEDBACK.c.answer_id == answer_id).order_by(FEEDBACK.c.id)
        return [_feedback(row) for row in await self._database.rows(statement)]

    async def each(self) -> AsyncGenerator[StoredFeedback]:
        """Yield all feedback, oldest first, read in batches."""
        async for row in self._database.each(_STANDING, FEEDBACK.c.id):
            yield _feedback(row)


def _feedback(row: RowMapping) -> StoredFeedback:
    return StoredFeedback(**{**row, "references": tuple(row["references"])})
