"""Which of two answers people prefer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from core.errors import InputError
from server.access.doorman import Visitor
from server.api.documented import problems
from server.api.shapes import Compared, Comparing, Made
from server.api.visibility import visible_answer
from server.services import Services
from server.store.comparisons import StoredComparison
from server.store.ids import new_id


@post(
    "/v1/comparisons",
    opt={"scope": "feedback"},
    summary="Compare two answers",
    responses=problems(404, body=True),
    tags=["feedback"],
)
async def compare(
    services: NamedDependency[Services], visitor: NamedDependency[Visitor], data: JSONBody[Comparing]
) -> Made:
    """Store which of two answers is better, in four respects. It is on the disk when this returns.

    Negative ratings prefer the first answer, positive ones the second. For `unsupported`, the better answer
    is the one with less information that its references do not support.
    """
    comparison = StoredComparison(
        id=new_id(),
        key_id=visitor.key_id,
        question=data.question,
        answers=[await compared(services, visitor, answer) for answer in data.answers],
        usefulness=data.usefulness,
        coherence=data.coherence,
        unsupported=data.unsupported,
        overall=data.overall,
        comment=data.comment.strip(),
        created=datetime.now(UTC),
    )
    await services.store.get().comparisons.add(comparison)
    return Made(comparison.id)


async def compared(services: Services, visitor: Visitor, given: Compared) -> dict[str, Any]:
    """An answer with all that is to be kept of it; raises `NoAnswerError` and `InputError`."""
    if given.text is not None:
        if given.answer_id is not None:
            await visible_answer(services, visitor, given.answer_id)
        return {"text": given.text, "references": list(given.references), "answer_id": given.answer_id}
    if given.answer_id is None:
        raise InputError("Each answer needs an `answer_id` or a `text`.")
    answer = await visible_answer(services, visitor, given.answer_id)
    if answer.body is None:
        raise InputError(f"The question {given.answer_id} has no answer.", "Wait for it, or ask again.")
    references = [reference["text"] for reference in answer.body["references"]]
    return {"text": answer.body["answer"], "references": references, "answer_id": answer.id}
