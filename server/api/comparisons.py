"""Comparisons of two answers by people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from citewell.core.errors import InputError
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.schemas import AnnotatedAnswer, ComparedAnswer, ComparisonRequest, Created
from citewell.server.api.visibility import generator_of, visible_answer, written
from citewell.server.services import Services
from citewell.server.store.comparisons import RATINGS, StoredComparison
from citewell.server.store.ids import new_id
from citewell.server.studies.parts import judged_parts


@post(
    "/v1/comparisons",
    opt={"scope": "feedback", "creates": True},
    summary="Compare two answers",
    responses=problems(404, 409, body=True),
    tags=["feedback"],
)
async def create_comparison(
    services: NamedDependency[Services], caller: NamedDependency[Caller], data: JSONBody[ComparisonRequest]
) -> Created:
    """Store which of two answers is better, in four respects. The comparison is on disk when this returns.

    Negative ratings prefer the first answer, positive ones the second. For `unsupported`, the better answer
    is the one with less information that its references do not support. A question that is flagged needs no
    ratings.
    """
    ratings = {name: rating for name in RATINGS if (rating := getattr(data, name)) is not None}
    missing = [name for name in RATINGS if name not in ratings]
    if missing and data.flag is None:
        raise InputError(
            f"The comparison has no {', '.join(missing)}.", "Only a flagged question needs none."
        )
    comparison = StoredComparison(
        id=new_id(),
        key_id=caller.key_id,
        question=data.question,
        answers=[await _weighed(services, caller, answer) for answer in data.answers],
        ratings=ratings,
        comment=(data.comment or "").strip(),
        created=datetime.now(UTC),
        flag=data.flag,
    )
    await services.store.get().comparisons.add(comparison)
    return Created(comparison.id)


async def compared(services: Services, caller: Caller, given: ComparedAnswer) -> dict[str, Any]:
    """Return an answer with everything to store about it; raises `NoAnswerError` and `InputError`."""
    return (await _found(services, caller, given)).kept


class _FoundPair(NamedTuple):
    """Return the stored parts of an answer and its sentences; None for a plain text."""

    kept: dict[str, Any]
    sentences: list[str] | None


async def _found(services: Services, caller: Caller, given: ComparedAnswer) -> _FoundPair:
    if given.text is not None:
        if given.answer_id is not None:
            await visible_answer(services, caller, given.answer_id)
        kept = {"text": given.text, "references": list(given.references), "answer_id": given.answer_id}
        return _FoundPair(kept, None)
    if given.answer_id is None:
        raise InputError("Each answer needs an `answer_id` or a `text`.")
    answer = await visible_answer(services, caller, given.answer_id)
    body = written(answer)
    references = [reference["text"] for reference in body["references"]]
    kept = {
        "text": body["answer"],
        "references": references,
        "answer_id": answer.id,
        "system": generator_of(answer),
    }
    return _FoundPair(kept, [sentence["text"] for sentence in body["sentences"]])


async def _weighed(services: Services, caller: Caller, given: AnnotatedAnswer) -> dict[str, Any]:
    """Return an answer with the rater's opinion of its parts, each named once with its text."""
    kept, sentences = await _found(services, caller, given)
    return kept | judged_parts(given.trust, given.claims, len(kept["references"]), sentences)
