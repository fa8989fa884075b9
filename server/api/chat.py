"""Chat completions in the format of OpenAI's API, whole or as a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from litestar import Request, Response, post
from litestar.di import NamedDependency
from litestar.openapi.spec import OpenAPIMediaType, Operation, Schema
from litestar.params import JSONBody

from citewell.server.access.authenticator import Caller
from citewell.server.api import sse
from citewell.server.api.chat_errors import UnsupportedParameterError, chat_errors, chat_handlers
from citewell.server.api.chat_question import check_parameters, question_of, turns_of_messages
from citewell.server.api.chat_reply import ChatCompletion
from citewell.server.api.chat_schemas import ChatAnswer, ChatRequest
from citewell.server.api.chat_stream import stream
from citewell.server.api.models import chosen_model
from citewell.server.api.question_options import question_options
from citewell.server.api.waiting import ended
from citewell.server.services import Services

_CHUNKS = (
    "With `stream`: a line `data: ` with a chunk for each piece of the text; a chunk with `finish_reason` "
    "and the field `citewell`; with `stream_options.include_usage`, one with `usage`; and `data: [DONE]`."
)


@dataclass
class _Operation(Operation):
    """An operation whose reply with status 200 has two media types."""

    def __post_init__(self) -> None:
        if self.responses is not None:
            content = getattr(self.responses["200"], "content", None)
            assert isinstance(content, dict)
            content[sse.MEDIA_TYPE] = OpenAPIMediaType(Schema(description=_CHUNKS))


@post(
    "/v1/chat/completions",
    status_code=200,
    opt={"scope": "ask", "asks": True},
    summary="Create a chat completion",
    responses=chat_errors(404, 413, 415, 429, 502, 504),
    response_description="The answer.",
    exception_handlers=chat_handlers(),
    operation_class=_Operation,
    tags=["openai"],
)
async def create_chat_completion(
    request: Request[Any, Any, Any],
    services: NamedDependency[Services],
    caller: NamedDependency[Caller],
    data: JSONBody[ChatRequest],
) -> Response[ChatAnswer]:
    """Answer the last user message as `POST /v1/answers` answers a question.

    With earlier messages, a follow-up question is rewritten as a question of its own. Parameters that would
    change the answer but are not supported are refused.
    """
    model = await chosen_model(services, caller, data.model)
    check_parameters(data)
    if data.collection and model.collection:
        raise UnsupportedParameterError("collection", "the model names a collection", "Use one of both.")
    own = {"question": question_of(data), "turns": turns_of_messages(data), "generator": model.generator}
    options = question_options(data, own | {"collection": model.collection or data.collection})
    subscription = await services.questions.ask(options, caller, fresh=bool(data.fresh))
    if data.stream:
        return stream(services, subscription, data, model.name)
    return Response(ChatCompletion(data, model.name, await ended(request, subscription)).whole())
