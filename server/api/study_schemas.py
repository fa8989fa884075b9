"""The requests and replies of studies."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from citewell.server.api.schemas import (
    ClaimRating,
    Comment,
    Id,
    Question,
    RaterName,
    Rating,
    ReferenceTrust,
    Scores,
    Text,
)
from citewell.server.studies.forms.catalog import FORMS

SystemName = Annotated[
    str, Meta(min_length=1, max_length=100, description="Which system wrote it.", examples=["webglm-10b"])
]
FormName = Annotated[
    str,
    Meta(max_length=40, description=f"One of {', '.join(FORMS)}.", examples=["webgpt"]),
]


class StudyReference(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A reference of an answer."""

    text: Text
    title: Annotated[str, Meta(max_length=1_000)] | None = None
    url: Annotated[str, Meta(max_length=8_000)] | None = None


class StudyAnswer(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """An answer of a system, with marks such as `[1]` that cite its references."""

    system: SystemName
    text: Annotated[str, Meta(max_length=100_000)]
    references: Annotated[list[StudyReference], Meta(max_length=50)] = []


class JudgedAnswer(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What a rater says of one answer, as far as the form asks for it."""

    scores: Scores = {}
    references: Annotated[list[Scores], Meta(max_length=50)] = []
    trust: Annotated[list[ReferenceTrust], Meta(max_length=50)] = []
    claims: Annotated[list[ClaimRating], Meta(max_length=200)] = []
    rank: Annotated[int, Meta(ge=1, le=9, description="1 is the best; equal ranks are ties.")] | None = None


class ItemVerdict(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """What a rater says of an item: its answers in order, and the comparison of two by scale."""

    answers: Annotated[list[JudgedAnswer], Meta(max_length=9)] = []
    comparison: Annotated[dict[str, Rating], Meta(max_length=20)] = {}
    flag: Literal["unclear", "unsuitable"] | None = None
    comment: Comment | None = None


class JudgmentRequest(ItemVerdict, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A rater's judgment of one item, with its answers in the order in which they were shown."""

    item: Id
    rater: RaterName | None = None


class StudyItem(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A question with its answers; `gold` is the judgment that is known to be right."""

    question: Question
    answers: Annotated[list[StudyAnswer], Meta(min_length=1, max_length=9)]
    gold: ItemVerdict | None = None


class StudyRequest(Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A study of the given items, or of the questions in the history with several answers."""

    name: Annotated[str, Meta(min_length=1, max_length=200, pattern=r"\S", examples=["Four systems"])]
    form: FormName
    items: Annotated[list[StudyItem], Meta(max_length=5_000)] = []
    history: Annotated[bool, Meta(description="Take the questions of your history.")] = False
    seed: (
        Annotated[str, Meta(max_length=100, description="Decides every order; by default, random.")] | None
    ) = None
    share_required: (
        Annotated[float, Meta(ge=0, le=1, description="Share of the items that need every part.")] | None
    ) = None
    screening: Annotated[int, Meta(ge=0, le=100, description="Gold items that come first.")] = 0
    passing: Annotated[
        float, Meta(ge=0, le=1, description="Share of their judgments that must agree to go on.")
    ] = 0.5


class StudySummary(Struct, frozen=True):
    """A study, with the number of its items."""

    id: Id
    name: str
    form: str
    items: int
    created: datetime


class BlindAnswer(Struct, frozen=True):
    """An answer as a rater may see it: with marks and references only where the form is on them."""

    text: str
    references: list[StudyReference]


class NextItem(Struct, frozen=True):
    """The next item of a rater; null at the end, or after a screening test that was `failed`.

    With `every`, the form requires all parts.
    """

    done: int
    total: int
    failed: bool
    every: bool = False
    item: Id | None = None
    question: str | None = None
    answers: list[BlindAnswer] = []


class StudyList(Struct, frozen=True):
    """A page of the studies, newest first; `next` is the `before` of the next page."""

    studies: list[StudySummary]
    next: Id | None


class StudyResults(Struct, frozen=True):
    """What a study says of its systems and raters."""

    study: StudySummary
    results: dict[str, Any]
