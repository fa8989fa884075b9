"""Errors as problem details (RFC 9457): an object with a type, a title, a status and a hint."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any, NamedTuple

from citewell.core.errors import (
    CitewellError,
    CollectionError,
    FetchError,
    InputError,
    ModelError,
    ServiceError,
    ServiceUnreachableError,
)
from citewell.server.store.errors import StoreError

PROBLEMS = "/problems/"
"""The path under which the types of problems are described: a type is this path and a name."""

_STATUSES: tuple[tuple[type[CitewellError], int], ...] = (
    (InputError, 400),
    (StoreError, 503),
    (ModelError, 503),
    (ServiceUnreachableError, 504),
    (ServiceError, 502),
    (FetchError, 502),
    (CollectionError, 500),
)
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def status_of(kind: type[CitewellError]) -> int:
    """Return the HTTP status of a kind of error: its own, or that of the nearest kind above it."""
    own = getattr(kind, "status", None)
    if isinstance(own, int):
        return own
    return next((status for known, status in _STATUSES if issubclass(kind, known)), 500)


def name_of(kind: type[CitewellError]) -> str:
    """Return the name of a type of problem, such as `queue-full`."""
    name = _CAPITAL.sub("-", kind.__name__.removesuffix("Error")).lower()
    return name if name != "citewell" else "failure"


def title_of(kind: type[CitewellError]) -> str:
    """Return a type of problem in one sentence: the first one of the error's docstring."""
    return " ".join((kind.__doc__ or kind.__name__).split("\n\n")[0].split()).rstrip(".")


def problem_of(error: CitewellError) -> dict[str, Any]:
    """Return the problem details of an error, without the address at which it happened."""
    kind = type(error)
    problem: dict[str, Any] = {
        "type": PROBLEMS + name_of(kind),
        "title": title_of(kind),
        "status": status_of(kind),
        "detail": str(error),
    }
    if cause := getattr(error, "kind", ""):
        problem["kind"] = cause
    return problem


class ProblemKind(NamedTuple):
    """A type of problem: its title, and the HTTP status that goes with it."""

    title: str
    status: int


def kind_of(name: str) -> ProblemKind | None:
    """Return the type of problem of a name: a kind of error, or what HTTP itself refuses; None if unknown."""
    if kind := known_problems().get(name):
        return ProblemKind(title_of(kind), status_of(kind))
    refusals = (
        ProblemKind(status.phrase, status) for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST
    )
    return next((each for each in refusals if name_of_status(each.status) == name), None)


def name_of_status(status: int) -> str:
    """Return the name of the type of problem that only an HTTP status describes, such as `not-found`."""
    return HTTPStatus(status).phrase.lower().replace(" ", "-")


def known_problems() -> dict[str, type[CitewellError]]:
    """Return every kind of error that the service knows, by the name of its type."""
    kinds: dict[str, type[CitewellError]] = {}
    waiting: list[type[CitewellError]] = [CitewellError]
    while waiting:
        kind = waiting.pop()
        kinds[name_of(kind)] = kind
        waiting += kind.__subclasses__()
    return kinds
