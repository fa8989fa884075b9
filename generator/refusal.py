"""What a chat completion service means when it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceQuotaError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.http_service import SHOWN, JsonObject, explanation
from citewell.core.http_time import retry_after

_KINDS: Mapping[int, type[ServiceError]] = {
    HTTPStatus.UNAUTHORIZED: ServiceKeyRefusedError,
    HTTPStatus.FORBIDDEN: ServiceKeyRefusedError,
    HTTPStatus.PAYMENT_REQUIRED: ServiceQuotaError,
    HTTPStatus.TOO_MANY_REQUESTS: ServiceRateError,
    HTTPStatus.REQUEST_TIMEOUT: ServiceUnreachableError,
    HTTPStatus.CONFLICT: ServiceUnreachableError,
}
_HINTS: Mapping[type[ServiceError], str] = {
    ServiceKeyRefusedError: "Set the environment variable OPENAI_API_KEY or the setting generator.key to a "
    "key of this service.",
    ServiceQuotaError: "Look at the usage and the limits of the key at the service.",
    ServiceRateError: "Ask less often: lower the setting generator.concurrency.",
    ServiceUnreachableError: "Check that the service runs and that generator.base_url is its address.",
    ServiceAnswerError: "Check the name of the model, and that generator.base_url is the address of an "
    "OpenAI-compatible API, which often ends in /v1.",
}
# Optional parameters of a request, and what is sent where a model of OpenAI's refuses one.
_REPLACEMENTS: Mapping[str, str] = {
    "max_tokens": "max_completion_tokens",
    "temperature": "",
    "top_p": "",
    "seed": "",
    "n": "",
}
_REFUSED_PARAMETER = {"unsupported_parameter", "unsupported_value"}


class Replacement(NamedTuple):
    """A parameter that a model refuses, and the one that it takes instead; empty where there is none."""

    refused: str
    instead: str


def hint_for(kind: type[ServiceError]) -> str:
    """What to do about an error of a kind."""
    return next((_HINTS[base] for base in kind.__mro__ if base in _HINTS), "")


def refusal(
    service: str, status: int, headers: Mapping[str, str], body: JsonObject
) -> tuple[type[ServiceError], str, float | None]:
    """The class of error that a refusal stands for, its message, and the seconds that it asks to wait."""
    kind = _KINDS.get(status)
    if kind is None:
        kind = ServiceUnreachableError if status >= 500 else ServiceAnswerError
    if kind is ServiceRateError and "insufficient_quota" in _details(body).values():
        kind = ServiceQuotaError
    phrase = next((s.phrase for s in HTTPStatus if s == status), "")
    message = f"{service} answered {status} {phrase}".rstrip()
    if status < HTTPStatus.BAD_REQUEST and "Location" in headers:
        message += f" and points to {headers['Location'][:SHOWN]}"
    if told := explanation(body):
        message += f": {told.rstrip('.')}"
    return kind, f"{message}.", retry_after(headers)


def replacement(status: int, body: JsonObject) -> Replacement | None:
    """What to change in a request that was refused for an optional parameter; None for other refusals.

    OpenAI's reasoning models take `max_completion_tokens` for `max_tokens`, and no temperature.
    """
    details = _details(body)
    parameter = details.get("param")
    if status != HTTPStatus.BAD_REQUEST or details.get("code") not in _REFUSED_PARAMETER:
        return None
    if not isinstance(parameter, str) or parameter not in _REPLACEMENTS:
        return None
    return Replacement(parameter, _REPLACEMENTS[parameter])


def _details(body: JsonObject) -> JsonObject:
    error = body.get("error")
    return error if isinstance(error, dict) else {}
