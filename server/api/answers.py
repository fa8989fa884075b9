"""Answers: ask, follow, cancel, read, list and delete."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from litestar import Request, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, HeaderParameter, JSONBody, QueryParameter

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.api import sse
from citewell.server.api.answer_reply import answer_response
from citewell.server.api.documented import problems
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.question_options import question_options
from citewell.server.api.question_schemas import AskRequest
from citewell.server.api.repeating import REPEATED, Claim, IdempotencyKey, StillAnsweredError, claim_of
from citewell.server.api.schemas import AnswerList, AnswerResponse, AnswerSummary, to
from citewell.server.api.turns import turns_of
from citewell.server.api.visibility import NoAnswerError, visible_answer, visible_thread, whose
from citewell.server.api.waiting import ended
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer

_EVENTS = ResponseSpec(
    Any,  # the data of each event differs
    generate_examples=False,
    description="With `stream`, or `Accept: text/event-stream`: the events of the question as they happen, "
    "which are `queued`, `searching`, `rewritten`, `searched`, `browsed`, `fetched`, `failed`, `ranked`, "
    "`quoted`, `notice`, `token`, `scored`, and last `done` with the whole answer, or `error` with a "
    "problem.",
    media_type=sse.MEDIA_TYPE,
)
_LAST_EVENT = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="The id of the last event that the client received."),
]


class ElsewhereError(CitewellError):
    """Another process of the service answers the question; only that process can give events or cancel it."""

    status = 409

    def __init__(self, answer_id: str) -> None:
        """Name the answer."""
        super().__init__(
            "Another process of the service answers this question: only that process has its events and can "
            "cancel it.",
            f"GET /v1/answers/{answer_id} has the answer once it is done.",
        )


@post(
    "/v1/answers",
    opt={"scope": "ask", "asks": True, "resumes": True, "creates": True},
    summary="Ask a question",
    responses={200: _EVENTS, **problems(404, 409, 422, 502, 504, body=True)},
    response_description="The answer.",
    tags=["answers"],
)
async def ask_question(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[AskRequest],
    last_event: _LAST_EVENT = None,  # for the description alone: `sse.resumed` reads it
    idempotency_key: IdempotencyKey = None,  # for the description alone: `repeat` reads it
) -> Response[AnswerResponse]:
    """Answer a question from pages that are searched, fetched and ranked, with every sentence checked.

    With `stream`, or `Accept: text/event-stream`, the reply is a stream of events. A client whose connection
    broke resumes it by sending the same request with `Last-Event-ID`.
    """
    if (position := sse.resumed(request.headers)) is not None:
        return await _resumed(services, caller, position.answer_id, position.number)
    is_streamed = bool(data.stream) or sse.wants_events(request.headers.get("accept", ""))
    claim = claim_of(request)
    if claim is not None and (known := await _known(services, claim)) is not None:
        if is_streamed:
            return sse.stream(services.questions.replay(known), 0, **{REPEATED: "true"})
        return _reply(known, **{REPEATED: "true"})
    options = question_options(data)
    after = None
    if data.thread is not None:
        earlier = await visible_thread(services, caller, data.thread)
        options, after = replace(options, turns=turns_of(earlier)), earlier[-1]
    subscription = await services.questions.ask(options, caller, fresh=bool(data.fresh), after=after)
    if claim is not None:
        await claim.keep_answer(subscription.answer.id)
    if is_streamed:
        return sse.stream(subscription, 0)
    return _reply(await ended(request, subscription))


async def _known(services: Services, claim: Claim) -> StoredAnswer | None:
    """Return the answer of an earlier request with the same key.

    None if there was none, or if its answer was deleted or has failed: the key is then claimed again.
    Raises `StillAnsweredError` while the question runs, or if another repetition asks it.
    """
    if not claim.answer_id:
        return None
    known = await services.store.get().answers.get(claim.answer_id)
    if known is not None and known.status == "running":
        raise StillAnsweredError
    if known is not None and known.status == "done":
        return known
    await claim.reopen()
    return None


def _reply(answer: StoredAnswer, **headers: str) -> Response[AnswerResponse]:
    return Response(answer_response(answer), headers={"Location": f"/v1/answers/{answer.id}"} | headers)


@get(
    "/v1/answers/{answer_id:str}/events",
    opt={"scope": "ask"},
    summary="Follow a question",
    responses={200: _EVENTS, **problems(404, 409)},
    media_type=sse.MEDIA_TYPE,
    tags=["answers"],
)
async def follow_question(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    answer_id: FromPath[str],
    last_event: _LAST_EVENT = None,
) -> Response[str]:
    """The events of a question that is running or has ended, after the one named in `Last-Event-ID`."""
    position = sse.read_position(last_event or "")
    number = position.number if position and position.answer_id == answer_id else 0
    return await _resumed(services, caller, answer_id, number)


@post(
    "/v1/answers/{answer_id:str}/cancel",
    status_code=204,
    opt={"scope": "ask"},
    summary="Cancel a question",
    responses=problems(404, 409),
    tags=["answers"],
)
async def cancel_question(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> None:
    """Cancel a question that waits or runs; it stays in the history as cancelled.

    A question that others have asked too goes on for them. One that has ended stays as it is.
    """
    answer = await visible_answer(services, caller, answer_id)
    if not services.questions.cancel(answer_id) and answer.status == "running":
        raise ElsewhereError(answer_id)


@get(
    "/v1/answers/{answer_id:str}",
    opt={"scope": "ask"},
    summary="Read an answer",
    responses=problems(404),
    tags=["answers"],
)
async def get_answer(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> AnswerResponse:
    """A question and, once it is done, its answer."""
    return answer_response(await visible_answer(services, caller, answer_id))


@get("/v1/answers", opt={"scope": "ask"}, summary="List answers", responses=problems(), tags=["answers"])
async def list_answers(
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    before: Before = None,
    limit: Limit = 20,
    words: Annotated[
        str,
        QueryParameter(
            name="query", max_length=1000, description="Only questions that contain this, in any case."
        ),
    ] = "",
) -> AnswerList:
    """The questions of this key, newest first; those of all keys with the scope `admin`."""
    page = page_of(await services.store.get().answers.page(whose(caller), limit + 1, before, words), limit)
    asked = [to(AnswerSummary, row) for row in page.rows]
    return AnswerList(asked, page.next)


@delete(
    "/v1/answers/{answer_id:str}",
    opt={"scope": "ask"},
    summary="Delete an answer",
    responses=problems(404, 429),
    tags=["answers"],
)
async def delete_answer(
    services: NamedDependency[Services], caller: NamedDependency[Caller], answer_id: FromPath[str]
) -> None:
    """Delete an answer from the history, and cancel its question if it runs. Feedback on it is kept."""
    await visible_answer(services, caller, answer_id)
    services.questions.forget(answer_id)
    if not await services.store.get().answers.delete(answer_id):
        raise NoAnswerError(answer_id)


async def _resumed(services: Services, caller: Caller, answer_id: str, number: int) -> Response[Any]:
    answer = await visible_answer(services, caller, answer_id)
    subscription = services.questions.subscription(answer_id)
    if subscription is not None:
        return sse.stream(subscription, number)
    if answer.status == "running":
        raise ElsewhereError(answer_id)
    return sse.stream(services.questions.replay(answer), 0)
