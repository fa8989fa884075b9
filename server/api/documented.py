"""The documentation of the API's replies in its OpenAPI description."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example, OpenAPIMediaType, OpenAPIType, Operation, Schema

from citewell.server.api.problems import MEDIA_TYPE
from citewell.server.api.schemas import ProblemDetails
from citewell.server.problems import PROBLEMS

_TO_ALL = (400, 421, 431, 500)
_WITH_SCOPE = (401, 403, 503)
_WITH_BODY = (413, 415, 429)


def problems(*statuses: int, scope: bool = True, body: bool = False) -> dict[int, ResponseSpec]:
    """Return the problems that a handler may reply with: its own `statuses` and the common ones.

    `scope` says whether it needs a key, and `body` whether it takes a body and counts against limits.
    """
    every = {*_TO_ALL, *statuses, *(_WITH_SCOPE if scope else ()), *(_WITH_BODY if body else ())}
    return {status: _problem(status) for status in sorted(every)}


def replies_as(*media_types: str) -> type[Operation]:
    """Return an operation whose reply with status 200 also has these media types."""

    @dataclass
    class ReplyOperation(Operation):
        def __post_init__(self) -> None:
            if self.responses is not None:
                content = getattr(self.responses["200"], "content", None)
                assert isinstance(content, dict)
                content |= {each: OpenAPIMediaType(Schema(type=_type_of(each))) for each in media_types}

    return ReplyOperation


def _type_of(media_type: str) -> OpenAPIType:
    if not media_type.endswith("json"):
        return OpenAPIType.STRING
    return OpenAPIType.ARRAY if media_type.endswith("+json") else OpenAPIType.OBJECT


def _problem(status: int) -> ResponseSpec:
    phrase = HTTPStatus(status).phrase
    example = {
        "type": PROBLEMS + phrase.lower().replace(" ", "-"),
        "title": phrase,
        "status": status,
        "detail": "What went wrong. What to do about it.",
        "instance": "/v1/answers",
    }
    return ResponseSpec(
        ProblemDetails,
        generate_examples=False,
        description=HTTPStatus(status).description or phrase,
        media_type=MEDIA_TYPE,
        examples=[Example(summary=phrase, value=example)],
    )
