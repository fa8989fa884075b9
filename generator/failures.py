"""The failures of chat completion services: refusals, broken answers and missing ones."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import openai

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceCutError,
    ServiceError,
    ServiceKeyRefusedError,
    ServiceQuotaError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.http_service import SHOWN, JsonObject, explanation, json_object
from citewell.core.http_time import retry_after
from citewell.generator.completion import Replacement

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
# Optional parameters of a request, and what is sent instead when a model of OpenAI's refuses one.
_REPLACEMENTS: Mapping[str, str] = {
    "max_tokens": "max_completion_tokens",
    "temperature": "",
    "top_p": "",
    "seed": "",
    "n": "",
}
# Errors of the SDK's HTTP client after the connection was made.
_CUT = {"ReadError", "RemoteProtocolError"}
_REFUSED_PARAMETER = {"unsupported_parameter", "unsupported_value"}


def hint_for(kind: type[ServiceError]) -> str:
    """Return the hint for a kind of error."""
    return next((_HINTS[base] for base in kind.__mro__ if base in _HINTS), "")


def failure(service: str, error: openai.APIError, *, begun: bool) -> ServiceError:
    """Convert an error of the SDK; `begun` tells that a part of the answer had arrived."""
    if isinstance(error, openai.APITimeoutError):
        return ServiceUnreachableError(f"{service} took too long to connect or to answer.")
    if isinstance(error, openai.APIConnectionError):
        cause = type(error.__cause__).__name__
        if begun or cause in _CUT:
            return ServiceCutError(f"{service} broke off its answer.")
        return ServiceUnreachableError(f"{service} cannot be reached ({cause}).")
    if isinstance(error, openai.APIStatusError):
        response = error.response
        return refusal(service, response.status_code, response.headers, json_object(response.content) or {})
    return refusal_in_answer(service, error.body)


def refusal_in_answer(service: str, error: object) -> ServiceError:
    """Return the error of an answer with status 200 whose member `error` has the status as its `code`."""
    code = error.get("code") if isinstance(error, dict) else None
    return refusal(service, code if isinstance(code, int) else HTTPStatus.OK, {}, {"error": error})


def refusal(service: str, status: int, headers: Mapping[str, str], body: JsonObject) -> ServiceError:
    """Return the error of an answer with a status other than 200."""
    kind = _KINDS.get(status)
    if kind is None:
        kind = ServiceUnreachableError if status >= 500 else ServiceAnswerError
    if kind is ServiceRateError and "insufficient_quota" in _details(body).values():
        kind = ServiceQuotaError
    phrase = next((s.phrase for s in HTTPStatus if s == status), "")
    message = f"{service} answered {status} {phrase}".rstrip()
    if status < HTTPStatus.BAD_REQUEST and "Location" in headers:
        message += f" and points to {headers['Location'][:SHOWN]}"
    if explained := explanation(body):
        message += f": {explained.rstrip('.')}"
    return kind(f"{message}.", retry_after=retry_after(headers))


def replacement(error: openai.BadRequestError) -> Replacement | None:
    """Return what to change in a request that was refused for an optional parameter; None for other refusals.

    OpenAI's reasoning models take `max_completion_tokens` instead of `max_tokens`, and no temperature.
    """
    parameter = error.param
    if error.code not in _REFUSED_PARAMETER or parameter is None or parameter not in _REPLACEMENTS:
        return None
    return Replacement(parameter, _REPLACEMENTS[parameter])


def _details(body: JsonObject) -> JsonObject:
    error = body.get("error")
    return error if isinstance(error, dict) else {}
