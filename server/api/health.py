"""Health and readiness of the service."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, head
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath

from citewell.core.errors import CitewellError
from citewell.server.api.documented import problems
from citewell.server.api.schemas import Health, ProblemType, Ready
from citewell.server.pages.replies import is_opened, problem_page
from citewell.server.problems import PROBLEMS, kind_of
from citewell.server.services import Services


@get("/health", summary="Check health", responses=problems(scope=False), tags=["health"])
async def get_health() -> Health:
    """Reply as long as the process runs; `/ready` checks what it needs."""
    return Health()


@head("/health", include_in_schema=False)
async def head_health() -> None:
    """Reply as `get_health` does, without a body, as monitors ask."""


_NOT_READY = ResponseSpec(
    Ready, generate_examples=False, description="The service does not accept questions yet."
)


@get(
    "/ready",
    summary="Check readiness",
    responses={503: _NOT_READY, **problems(scope=False)},
    tags=["health"],
)
async def get_readiness(services: NamedDependency[Services]) -> Response[Ready]:
    """Whether the models, the database and the limits are ready; if not, why.

    Questions are accepted even while limits are counted by each process for itself.
    """
    return await _readiness(services)


@head("/ready", include_in_schema=False)
async def head_readiness(services: NamedDependency[Services]) -> Response[None]:
    """Reply as `get_readiness` does, without a body."""
    return Response(None, status_code=(await _readiness(services)).status_code)


async def _readiness(services: Services) -> Response[Ready]:
    parts = {"models": _state(services.pipelines.problem), "store": await _store(services)}
    is_ready = set(parts.values()) == {"ready"}
    if trouble := await services.limiter.trouble():
        parts["limits"] = trouble
    if services.recorder.pending:
        parts["answers"] = f"{services.recorder.pending} waiting for the database"
    return Response(
        Ready(is_ready, parts, services.queue.running, services.queue.waiting),
        status_code=200 if is_ready else 503,
    )


_PROBLEM_TYPE = ResponseSpec(ProblemType, generate_examples=False, description="The type of problem.")


@get(
    PROBLEMS + "{name:str}",
    summary="Describe a type of problem",
    responses={200: _PROBLEM_TYPE, **problems(404, scope=False)},
    tags=["health"],
)
async def get_problem_type(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[Any]:
    """Describe the type that the field `type` of a problem names; to a browser, as a page."""
    kind = kind_of(name)
    if kind is None:
        raise NotFoundException
    type_ = PROBLEMS + name
    if is_opened(request):
        return problem_page(type_, kind)
    return Response(ProblemType(type_, kind.title, kind.status))


async def _store(services: Services) -> str:
    if services.store.problem is not None:
        return _state(services.store.problem)
    try:
        await services.store.get().ping()
    except CitewellError as error:
        return _state(error)
    return "ready"


def _state(problem: CitewellError | None) -> str:
    return "ready" if problem is None else problem.message
