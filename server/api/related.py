"""Questions to ask after an answer: by the language model that writes, else by a rule."""

from __future__ import annotations

import logging
from typing import Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from citewell.core.errors import ModelError, ServiceError
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documented import problems
from citewell.server.api.schemas import AnswerResponse, RelatedQuestions
from citewell.server.api.visibility import visible_answer
from citewell.server.api.waiting import while_connected
from citewell.server.pages.modes import writer_of
from citewell.server.pages.related import related_questions
from citewell.server.services import Services

_LOG = logging.getLogger("citewell.questions")


@get(
    "/v1/answers/{answer_id:str}/related",
    opt={"scope": "ask"},
    summary="List related questions",
    responses=problems(404),
    tags=["answers"],
)
async def list_related(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
) -> RelatedQuestions:
    """Questions about what the sources of an answer say besides; none if it has no sentences.

    The language model that wrote the answer writes them, once for each. Where none did, or it fails, they are
    made from titles and headings, for questions in English.
    """
    answer = answer_response(await visible_answer(services, caller, answer_id))
    written: tuple[str, ...] = ()
    if answer.sentences and (writer := writer_of(answer)):
        try:
            written = await while_connected(request, _written(services, answer, writer, caller.key_id))
        except (ModelError, ServiceError) as error:
            _LOG.warning("No related questions were written: %s", error)
    return RelatedQuestions([*(written or (each.text for each in related_questions(answer)))])


async def _written(
    services: Services, answer: AnswerResponse, writer: str, key_id: str | None
) -> tuple[str, ...]:
    completer = await services.pipelines.get().completer(writer)
    if completer is None:
        return ()
    asked = answer.rewritten or answer.question
    given = (asked, tuple(answer.sentences), tuple(answer.references))
    return await services.related.write(completer, answer.id, *given, key_id)
