"""Replies for errors: problem details (RFC 9457)."""

from __future__ import annotations

import logging
import math
import re
from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException

from citewell.core.errors import CitewellError
from citewell.server.problems import PROBLEMS, name_of_status, problem_of, status_of
from citewell.server.work.errors import InternalError, explained

MEDIA_TYPE = "application/problem+json"

_DETAILS = {
    404: "This address does not exist. GET /schema describes the API.",
    405: "This address does not support the method. The header Allow lists the supported ones.",
    413: "The body is larger than server.max_body allows, or the documents than server.max_upload.",
}

_UNKNOWN = re.compile("Object contains unknown field `(.+?)`")  # as msgspec says it

_LOG = logging.getLogger("citewell.service")


def reply(problem: dict[str, Any], request: Request[Any, Any, Any], **headers: str) -> Response[Any]:
    """Return a problem as a response."""
    return Response(
        problem | {"instance": request.scope["path"]},
        status_code=problem["status"],
        media_type=MEDIA_TYPE,
        headers=headers,
    )


def reply_to_error(request: Request[Any, Any, Any], error: CitewellError) -> Response[Any]:
    """Return the reply for an error of Citewell, with `Retry-After` if that is known."""
    status = status_of(type(error))
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
    """Return the reply for a request that Litestar refuses: a malformed body, an unknown address, and so
    on."""
    status = error.status_code
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return reply_to_fault(request, error)
    phrase = HTTPStatus(status).phrase
    problem: dict[str, Any] = {
        "type": PROBLEMS + name_of_status(status),
        "title": phrase,
        "status": status,
        "detail": _DETAILS.get(status, error.detail),
    }
    if isinstance(error, ValidationException) and isinstance(error.extra, list):
        problem["detail"] = "The request is malformed."
        problem["errors"] = [_wrong(part) for part in error.extra if isinstance(part, dict)]
    headers = {name: str(value) for name, value in (error.headers or {}).items()}
    return reply(problem, request, **headers)


def reply_to_fault(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Return the reply for a full disk, or for a bug in the service, which only the log describes."""
    if known := explained(error):
        _LOG.error("%s", known)
        return reply_to_error(request, known)
    _LOG.error("A request failed: %s %s", request.method, request.scope["path"], exc_info=error)
    return reply(problem_of(InternalError()), request)


def reply_to_depth(request: Request[Any, Any, Any], error: RecursionError) -> Response[Any]:
    """Return the reply for JSON that is nested too deeply to parse."""
    return reply_to_http_error(
        request, HTTPException(status_code=400, detail="The JSON is nested too deeply.")
    )


def _wrong(part: dict[str, Any]) -> dict[str, str]:
    """Return the location of an invalid value and the reason why it is invalid."""
    where, detail = str(part.get("key", "")), str(part.get("message", ""))
    if unknown := _UNKNOWN.match(detail):
        return {"where": unknown[1], "detail": "This field is unknown; GET /schema describes the others."}
    if detail == repr(where):  # Litestar only names the missing value
        detail = "A JSON body is required." if where == "data" else "The value is missing."
    return {"where": where, "detail": detail}
