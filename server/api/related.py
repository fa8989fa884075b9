"""Questions to ask after an answer: by the language model that writes, else by a rule."""

from __future__ import annotations

import logging
from typing import Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import FromPath

from citewell.core.errors import ServiceError
from citewell.server.access.authenticator import Caller
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documented import problems
from citewell.server.api.schemas import RelatedQuestions
from citewell.server.api.visibility import visible_answer
from citewell.server.api.waiting import while_connected
from citewell.server.pages.modes import is_quoted
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

    The language model writes them, once for each answer. Where none wrote the answer, or it fails, they are
    made from titles and headings, for questions in English.
    """
    answer = answer_response(await visible_answer(services, caller, answer_id))
    completer = services.pipelines.get().completer
    written: tuple[str, ...] = ()
    if completer is not None and answer.sentences and not is_quoted(answer):
        asked = answer.rewritten or answer.question
        given = (asked, tuple(answer.sentences), tuple(answer.references))
        work = services.related.write(completer, answer.id, *given, caller.key_id)
        try:
            written = await while_connected(request, work)
        except ServiceError as error:
            _LOG.warning("No related questions were written: %s", error)
    return RelatedQuestions([*(written or (each.text for each in related_questions(answer)))])
