"""Answers: asked for, read again, listed and deleted."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, delete, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, HeaderParameter, JSONBody, QueryParameter

from citewell.core.errors import CitewellError
from citewell.server.access.authenticator import Caller
from citewell.server.api import sse
from citewell.server.api.documented import problems
from citewell.server.api.paging import Before, Limit, page_of
from citewell.server.api.schemas import AnswerList, AnswerResponse, AnswerSummary, AskRequest, to
from citewell.server.api.visibility import NoAnswerError, visible_answer, whose
from citewell.server.api.waiting import ended
from citewell.server.services import Services
from citewell.server.store.answers import StoredAnswer
from citewell.server.work.options import QuestionOptions
from citewell.server.work.queue import Subscription

_EVENTS = ResponseSpec(
    Any,  # each event has data of its own
    generate_examples=False,
    description="With `Accept: text/event-stream`: the events of the question as they happen. They are "
    "`queued`, `searching`, `searched`, `browsed`, `fetched`, `failed`, `ranked`, `notice`, `token`, "
    "`scored`, and at the end `done` with the whole answer, or `error` with a problem.",
    media_type=sse.MEDIA_TYPE,
)
_LAST_EVENT = Annotated[
    str | None,
    HeaderParameter(name="Last-Event-ID", description="The id of the last event that the client has."),
]


class ElsewhereError(CitewellError):
    """The question is worked on by another process, which alone has its events."""

    status = 409

    def __init__(self, answer_id: str) -> None:
        """The events of `answer_id` were asked for."""
        super().__init__(
            "The question is worked on by another process of the service, which alone has its events.",
            f"GET /v1/answers/{answer_id} has the answer once it is done.",
        )


@post(
    "/v1/answers",
    opt={"scope": "ask", "asks": True},
    summary="Ask a question",
    responses={200: _EVENTS, **problems(404, 409, 502, 504, body=True)},
    response_description="The answer.",
    tags=["answers"],
)
async def ask(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    visitor: NamedDependency[Caller],
    data: JSONBody[AskRequest],
    last_event: _LAST_EVENT = None,  # for the description alone: `resumed` reads it, as the door does
) -> Response[AnswerResponse]:
    """Answer a question from pages that are searched, fetched and ranked, with every sentence checked.

    With `Accept: text/event-stream`, the reply is a stream of events, which a client that was cut off resumes
    by sending the same request with `Last-Event-ID`.
    """
    if (place := sse.resumed(request.headers)) is not None:
        return await _resumed(services, visitor, place.answer_id, place.number)
    order = QuestionOptions(
        question=data.question,
        mode=data.mode,
        k=data.k,
        best_of=data.best_of,
        collection=data.collection,
        sites=tuple(data.sites),
        language=data.language,
        recency=data.recency,
        extractive=data.extractive,
        actions=data.actions if data.mode == "browse" else None,
    )
    ticket = await services.answering.begin(order, visitor.key_id, fresh=data.fresh)
    if sse.wants_events(request.headers.get("accept", "")):
        return sse.stream(ticket, 0, _end(services))
    await ended(request, ticket)
    return Response(
        shown(services.answering.state(ticket)), headers={"Location": f"/v1/answers/{ticket.about.id}"}
    )


@get(
    "/v1/answers/{answer_id:str}/events",
    opt={"scope": "ask"},
    summary="Follow a question",
    responses={200: _EVENTS, **problems(404, 409)},
    media_type=sse.MEDIA_TYPE,
    tags=["answers"],
)
async def follow(
    services: NamedDependency[Services],
    visitor: NamedDependency[Caller],
    answer_id: FromPath[str],
    last_event: _LAST_EVENT = None,
) -> Response[str]:
    """The events of a question that is worked on or was answered, from where `Last-Event-ID` says."""
    place = sse.read_place(last_event or "")
    number = place.number if place and place.answer_id == answer_id else 0
    return await _resumed(services, visitor, answer_id, number)


@get(
    "/v1/answers/{answer_id:str}",
    opt={"scope": "ask"},
    summary="Read an answer",
    responses=problems(404),
    tags=["answers"],
)
async def read(
    services: NamedDependency[Services], visitor: NamedDependency[Caller], answer_id: FromPath[str]
) -> AnswerResponse:
    """A question and, once it is done, its answer."""
    return shown(await visible_answer(services, visitor, answer_id))


@get("/v1/answers", opt={"scope": "ask"}, summary="List answers", responses=problems(), tags=["answers"])
async def history(
    services: NamedDependency[Services],
    visitor: NamedDependency[Caller],
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
    page = page_of(await services.store.get().answers.page(whose(visitor), limit + 1, before, words), limit)
    asked = [AnswerSummary(row.id, row.status, row.question, row.created, row.seconds) for row in page.rows]
    return AnswerList(asked, page.next)


@delete(
    "/v1/answers/{answer_id:str}",
    opt={"scope": "ask"},
    summary="Delete an answer",
    responses=problems(404, 429),
    tags=["answers"],
)
async def remove(
    services: NamedDependency[Services], visitor: NamedDependency[Caller], answer_id: FromPath[str]
) -> None:
    """Delete an answer from the history; a question that is worked on is given up. Feedback on it is kept."""
    await visible_answer(services, visitor, answer_id)
    services.answering.forget(answer_id)
    if not await services.store.get().answers.delete(answer_id):
        raise NoAnswerError(answer_id)


async def _resumed(services: Services, visitor: Caller, answer_id: str, number: int) -> Response[Any]:
    answer = await visible_answer(services, visitor, answer_id)
    ticket = services.answering.ticket(answer_id)
    if ticket is not None:
        return sse.stream(ticket, number, _end(services))
    if answer.status == "running":
        raise ElsewhereError(answer_id)
    return sse.stream(services.answering.replay(answer), 0, _end(services))


def _end(services: Services) -> Any:
    """What the last event says: the whole answer, or the problem."""

    def end(ticket: Subscription) -> Any:
        answer = services.answering.state(ticket)
        return shown(answer) if answer.problem is None else answer.problem

    return end


def shown(answer: StoredAnswer) -> AnswerResponse:
    """An answer as the API gives it."""
    values: dict[str, Any] = (answer.body or {}) | {
        "id": answer.id,
        "status": answer.status,
        "question": answer.question,
        "mode": answer.mode,
        "created": answer.created,
        "seconds": answer.seconds,
        "cached": bool(answer.settings.get("cached")),
        "options": {name: value for name, value in answer.settings.items() if name != "cached"},
    }
    if answer.problem is not None:
        values["problem"] = answer.problem
    view: AnswerResponse = to(AnswerResponse, values)
    return view
