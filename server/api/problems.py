"""Errors as problems of RFC 9457: one object with a type, a title, a status and what to do."""

from __future__ import annotations

import logging
import math
import re
from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

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
from citewell.server.work.errors import InternalError

MEDIA_TYPE = "application/problem+json"
PLACE = "/problems/"
"""Where the types of problems are described: a type is this and a name."""

_STATUSES: tuple[tuple[type[CitewellError], int], ...] = (
    (InputError, 400),
    (StoreError, 503),
    (ModelError, 503),
    (ServiceUnreachableError, 504),
    (ServiceError, 502),
    (FetchError, 502),
    (CollectionError, 500),
)
_DETAILS = {
    404: "There is nothing at this address. GET /schema describes those that there are.",
    405: "This address does not take this method. The header Allow lists those that it takes.",
    413: "The body is larger than the setting server.max_body lets it be.",
}
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")

_LOG = logging.getLogger("citewell.service")


def status_of(error: CitewellError) -> int:
    """The HTTP status of an error: its own, or that of the nearest kind."""
    return status_of_kind(type(error))


def status_of_kind(kind: type[CitewellError]) -> int:
    """The HTTP status of a kind of error."""
    own = getattr(kind, "status", None)
    if isinstance(own, int):
        return own
    return next((status for known, status in _STATUSES if issubclass(kind, known)), 500)


def type_of(kind: type[CitewellError]) -> str:
    """The type of a problem, such as `/problems/queue-full`."""
    name = _CAPITAL.sub("-", kind.__name__.removesuffix("Error")).lower()
    return PLACE + (name if name != "citewell" else "failure")


def title_of(kind: type[CitewellError]) -> str:
    """What kind of problem it is, in one sentence: the first of the error's description."""
    return " ".join((kind.__doc__ or kind.__name__).split("\n\n")[0].split()).rstrip(".")


def problem_of(error: CitewellError) -> dict[str, Any]:
    """The problem that an error is, without the address at which it happened."""
    problem: dict[str, Any] = {
        "type": type_of(type(error)),
        "title": title_of(type(error)),
        "status": status_of(error),
        "detail": str(error),
    }
    if kind := getattr(error, "kind", ""):
        problem["kind"] = kind
    return problem


def known_problems() -> dict[str, type[CitewellError]]:
    """Every kind of error that the service knows, by its type."""
    kinds: dict[str, type[CitewellError]] = {}
    waiting: list[type[CitewellError]] = [CitewellError]
    while waiting:
        kind = waiting.pop()
        kinds[type_of(kind)] = kind
        waiting += kind.__subclasses__()
    return kinds


def reply(problem: dict[str, Any], request: Request[Any, Any, Any], **headers: str) -> Response[Any]:
    """The response that tells a problem."""
    return Response(
        problem | {"instance": request.scope["path"]},
        status_code=problem["status"],
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def reply_to_error(request: Request[Any, Any, Any], error: CitewellError) -> Response[Any]:
    """Tell an error of Citewell, with when to ask again where that is known."""
    status = status_of(error)
    headers: dict[str, str] = {}
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers["Retry-After"] = str(max(math.ceil(retry_after), 1))
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="citewell"'
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        _LOG.error("%s", error, exc_info=error)
    return reply(problem_of(error), request, **headers)


def reply_to_http_error(request: Request[Any, Any, Any], error: HTTPException) -> Response[Any]:
    """Tell what Litestar refused: a wrong body, an address that does not exist, and so on."""
    status = error.status_code
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return reply_to_fault(request, error)
    phrase = HTTPStatus(status).phrase
    problem: dict[str, Any] = {
        "type": PLACE + phrase.lower().replace(" ", "-"),
        "title": phrase,
        "status": status,
        "detail": _DETAILS.get(status, error.detail),
    }
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        problem["detail"] = "The request is not of the form that this address takes."
        problem["errors"] = [_wrong(part) for part in error.extra if isinstance(part, dict)]
    headers = {name: str(value) for name, value in (error.headers or {}).items()}
    return reply(problem, request, **headers)


def reply_to_fault(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Tell that something is wrong here; what it is stands in the log alone."""
    _LOG.error("A request failed: %s %s", request.method, request.scope["path"], exc_info=error)
    return reply(problem_of(InternalError()), request)


def reply_to_depth(request: Request[Any, Any, Any], error: RecursionError) -> Response[Any]:
    """Tell that a body is nested more deeply than it can be read."""
    return reply_to_http_error(
        request, HTTPException(status_code=400, detail="The JSON is nested too deeply.")
    )


def _wrong(part: dict[str, Any]) -> dict[str, str]:
    """One value that cannot be used: where it is, and why."""
    where, detail = str(part.get("key", "")), str(part.get("message", ""))
    if detail == repr(where):  # Litestar names what is missing, and says no more
        detail = "The request needs a body of JSON." if where == "data" else "It is missing."
    return {"where": where, "detail": detail}
