"""Feedback on answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, cast

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody

from citewell.core.errors import InputError
from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.schemas import Created, FeedbackRequest
from citewell.server.api.visibility import visible_answer, written
from citewell.server.services import Services
from citewell.server.store.feedback import StoredFeedback
from citewell.server.store.ids import new_id


@post(
    "/v1/answers/{answer_id:str}/feedback",
    opt={"scope": "feedback", "creates": True},
    summary="Give feedback on an answer",
    responses=problems(404, 409, body=True),
    tags=["feedback"],
)
async def create_feedback(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
    data: JSONBody[FeedbackRequest],
) -> Created:
    """Store a thumb, a comment, or that a sentence is unsupported. It is on disk when this returns.

    A thumb for the whole answer replaces your earlier one; 0 takes it back.
    """
    answer = await visible_answer(services, caller, answer_id)
    comment = (data.comment or "").strip()
    if data.thumb is None and not comment and data.sentence is None:
        raise InputError("The feedback is empty.", "Send a thumb, a comment or a sentence.")
    body = written(answer)
    sentences = body["sentences"]
    if data.sentence is not None and data.sentence >= len(sentences):
        raise InputError(
            f"The answer has {len(sentences)} sentences, so number {data.sentence} does not exist.",
            "Sentences are numbered from 0.",
        )
    feedback = StoredFeedback(
        id=new_id(),
        answer_id=answer_id,
        key_id=caller.key_id,
        thumb=cast(Literal[1, 0, -1], data.thumb or 0),
        comment=comment,
        sentence=data.sentence,
        created=datetime.now(UTC),
        question=answer.question,
        answer=body["answer"],
        references=[reference["text"] for reference in body["references"]],
    )
    await services.store.get().feedback.add(feedback)
    return Created(feedback.id)
