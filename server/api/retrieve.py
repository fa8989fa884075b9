"""References without an answer."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from citewell.server.access.authenticator import Caller
from citewell.server.api.documented import problems
from citewell.server.api.question_options import question_options
from citewell.server.api.question_schemas import RetrieveRequest
from citewell.server.api.schemas import RetrieveResponse, to
from citewell.server.api.waiting import ended
from citewell.server.services import Services


@post(
    "/v1/retrieve",
    status_code=200,
    opt={"scope": "ask", "asks": True},
    summary="Find references",
    responses=problems(404, 502, 504, body=True),
    tags=["answers"],
)
async def find_references(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[RetrieveRequest],
) -> RetrieveResponse:
    """Find the references of a question, best first. No answer is written, and nothing is stored."""
    options = question_options(data, {"mode": "retrieve"})
    answer = await ended(request, await services.questions.retrieve(options, caller))
    found: RetrieveResponse = to(RetrieveResponse, answer.body)
    return found
