"""Whether the service lives, and whether it takes questions."""

from __future__ import annotations

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath

from citewell.core.errors import CitewellError
from citewell.server.api.documented import problems
from citewell.server.api.schemas import Health, ProblemType, Ready
from citewell.server.problems import PROBLEMS, known_problems, status_of, title_of
from citewell.server.services import Services


@get("/health", summary="Does the process answer?", responses=problems(scope=False), tags=["health"])
async def get_health() -> Health:
    """Say that the process answers; what it needs is asked of `/ready`."""
    return Health()


_NOT_READY = ResponseSpec(Ready, generate_examples=False, description="Questions are not taken yet.")


@get(
    "/ready",
    summary="Are questions taken?",
    responses={503: _NOT_READY, **problems(scope=False)},
    tags=["health"],
)
async def get_readiness(services: NamedDependency[Services]) -> Response[Ready]:
    """Say of the models, the database and the limits whether they are ready, and what they lack.

    Limits that fall back to this process alone do not keep questions from being taken.
    """
    parts = {"models": _state(services.pipelines.problem), "store": await _store(services)}
    is_ready = set(parts.values()) == {"ready"}
    if services.limiter.trouble:
        parts["limits"] = services.limiter.trouble
    if services.recorder.pending:
        parts["answers"] = f"{services.recorder.pending} wait for the database"
    return Response(
        Ready(is_ready, parts, services.queue.running, services.queue.waiting),
        status_code=200 if is_ready else 503,
    )


@get(
    PROBLEMS + "{name:str}",
    summary="What a problem means",
    responses=problems(404, scope=False),
    tags=["health"],
)
async def get_problem_type(name: FromPath[str]) -> ProblemType:
    """Describe a type of problem, as the `type` of a problem names it."""
    kind = known_problems().get(name)
    if kind is None:
        raise NotFoundException
    return ProblemType(PROBLEMS + name, title_of(kind), status_of(kind))


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
