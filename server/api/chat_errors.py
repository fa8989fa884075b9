"""Errors in the format of OpenAI's API (https://platform.openai.com/docs/guides/error-codes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from citewell.core.errors import CitewellError, InputError
from citewell.server.api.chat_schemas import ChatError, ChatFault
from citewell.server.api.problems import (
    reply_to_depth,
    reply_to_error,
    reply_to_fault,
    reply_to_http_error,
)
from citewell.server.problems import PROBLEMS, problem_of

_MAX_NAMED = 20  # models in a hint

Handler = Callable[[Request[Any, Any, Any], Any], Response[Any]]

_TYPES: Mapping[int, str] = MappingProxyType(
    {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
)
_CODES: Mapping[str, str] = MappingProxyType(
    {
        "no-key": "invalid_api_key",
        "wrong-key": "invalid_api_key",
        "no-model": "model_not_found",
        "too-often": "rate_limit_exceeded",
        "input": "invalid_value",
        "bad-request": "invalid_value",
    }
)
"""OpenAI's codes for problems, which clients know."""


class UnsupportedParameterError(InputError):
    """The parameter would change the answer, and the service does not support it."""

    def __init__(self, parameter: str, reason: str, hint: str = "Remove it from the request.") -> None:
        """`parameter` is its name, and `reason` why it is refused."""
        super().__init__(f"The parameter `{parameter}` is not supported: {reason}.", hint)
        self.parameter = parameter


class NoModelError(CitewellError):
    """The model does not exist."""

    status = 404
    parameter = "model"

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        """Name the requested model; `known` are the models that exist."""
        named = ", ".join(known[:_MAX_NAMED]) + (", …" if len(known) > _MAX_NAMED else ".")
        super().__init__(f"The model {name[:64]!r} does not exist.", f"Models: {named}")


def error_of(error: CitewellError) -> ChatError:
    """Return an error that ended a question after its reply had begun."""
    return _chat_error(problem_of(error), getattr(error, "parameter", None))


def chat_errors(*statuses: int) -> dict[int, ResponseSpec]:
    """Return the errors that a handler may reply with, for the OpenAPI description."""
    return {status: _described(status) for status in sorted({400, 401, 403, 421, 431, 500, 503, *statuses})}


def _chat_error(problem: Mapping[str, Any], parameter: str | None) -> ChatError:
    status, name = problem["status"], problem["type"].removeprefix(PROBLEMS)
    other = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
    detail = problem["detail"]
    for wrong in problem.get("errors", ()):
        parameter = parameter or wrong["where"]
        detail += f" {wrong['where']}: {wrong['detail']}"
    code = _CODES.get(name, name.replace("-", "_"))
    return ChatError(ChatFault(detail, _TYPES.get(status, other), code, parameter))


def _as_openai(reply: Handler) -> Handler:
    """Return the same reply in OpenAI's format, with the same status and headers."""

    def handler(request: Request[Any, Any, Any], error: Any) -> Response[Any]:
        problem = reply(request, error)
        content = _chat_error(problem.content, getattr(error, "parameter", None))
        return Response(
            content,
            status_code=problem.status_code,
            headers=dict(problem.headers.items()),
            media_type="application/json",
        )

    return handler


def chat_handlers() -> dict[int | type[Exception], Handler]:
    """Return the exception handlers of operations in OpenAI's format."""
    return {
        CitewellError: _as_openai(reply_to_error),
        HTTPException: _as_openai(reply_to_http_error),
        RecursionError: _as_openai(reply_to_depth),
        Exception: _as_openai(reply_to_fault),
    }


def _described(status: int) -> ResponseSpec:
    phrase = HTTPStatus(status).phrase
    problem = {"type": PROBLEMS + phrase.lower().replace(" ", "-"), "status": status, "detail": "What to do."}
    return ResponseSpec(
        ChatError,
        generate_examples=False,
        description=HTTPStatus(status).description or phrase,
        examples=[Example(summary=phrase, value=_chat_error(problem, None))],
    )
