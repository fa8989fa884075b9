"""Requests and replies in the format of OpenAI's API.

They follow https://platform.openai.com/docs/api-reference/chat as far as that applies here. The field
`citewell` has the parts of an answer that are not text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from citewell.core.types import Failure, Reference, Sentence
from citewell.server.api.question_schemas import AnswerOptions
from citewell.server.api.schemas import Id

_NOT_USED = "Accepted but ignored: the settings of the service decide how answers are written."
Number = Annotated[float, Meta(description=_NOT_USED)]
Count = Annotated[int, Meta(description=_NOT_USED)]
Ignored = Annotated[Any, Meta(description="Accepted but ignored.")]


class ChatMessage(Struct, frozen=True):
    """A message. Its content is text, or a list of parts of type `text`."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[
        str | list[dict[str, Any]] | None, Meta(examples=["How do bats find their way in the dark?"])
    ] = None


class StreamOptions(Struct, frozen=True):
    """Options of a stream."""

    include_usage: bool | None = None


class ChatRequest(AnswerOptions, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A conversation; the last user message is the question, which earlier ones complete.

    The fields of `POST /v1/answers` may stand beside those of OpenAI's API.
    """

    messages: Annotated[
        list[ChatMessage],
        Meta(
            min_length=1,
            max_length=2_000,
            examples=[[{"role": "user", "content": "How do bats find their way in the dark?"}]],
        ),
    ]
    model: Annotated[
        str,
        Meta(
            max_length=200,
            description="A generator, or `citewell/NAME` to ask the collection NAME.",
            examples=["citewell"],
        ),
    ] = "citewell"
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Number | None = None
    top_p: Number | None = None
    presence_penalty: Number | None = None
    frequency_penalty: Number | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    seed: Count | None = None
    top_logprobs: Count | None = None
    reasoning_effort: Ignored = None
    verbosity: Ignored = None
    prediction: Ignored = None
    web_search_options: Ignored = None
    audio: Ignored = None
    tool_choice: Ignored = None
    function_call: Ignored = None
    parallel_tool_calls: Ignored = None
    metadata: Ignored = None
    user: Ignored = None
    safety_identifier: Ignored = None
    prompt_cache_key: Ignored = None
    prompt_cache_retention: Ignored = None
    service_tier: Ignored = None
    store: Ignored = None
    n: Annotated[int, Meta(description="Number of answers; more than 1 is refused.")] | None = None
    stop: Annotated[str | list[str], Meta(description="Refused, unless empty.")] | None = None
    tools: Annotated[list[Any], Meta(description="Refused, unless empty.")] | None = None
    functions: Annotated[list[Any], Meta(description="Refused, unless empty.")] | None = None
    logit_bias: Annotated[dict[str, Any], Meta(description="Refused, unless empty.")] | None = None
    logprobs: Annotated[bool, Meta(description="Refused, unless false.")] | None = None
    response_format: (
        Annotated[dict[str, Any], Meta(description='Refused, unless `{"type": "text"}`.')] | None
    ) = None
    modalities: Annotated[list[str], Meta(description='Refused, unless `["text"]`.')] | None = None


class ChatReply(Struct, frozen=True):
    """The reply message."""

    content: Annotated[str, Meta(description="The answer with footnotes and notices, as Markdown.")]
    role: Literal["assistant"] = "assistant"


class ChatChoice(Struct, frozen=True):
    """The only choice."""

    message: ChatReply
    index: int = 0
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatUsage(Struct, frozen=True):
    """Estimated tokens of the question and of the reply: one per three bytes of UTF-8."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatExtra(Struct, frozen=True):
    """The parts of an answer that are not text."""

    id: Annotated[Id, Meta(description="The id of the answer, for `GET /v1/answers/{id}`.")]
    outcome: Literal["answered", "no_evidence"]
    cached: bool
    rewritten: (
        Annotated[str, Meta(description="The question that was answered in place of a follow-up question.")]
        | None
    )
    sentences: list[Sentence]
    references: list[Reference]
    failures: list[Failure]
    notices: list[str]
    timings: dict[str, float]
    models: dict[str, str]


class ChatAnswer(Struct, frozen=True):
    """A chat completion, with the additional field `citewell`."""

    id: str
    created: Annotated[int, Meta(description="When the question was asked, in seconds since 1970.")]
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    citewell: ChatExtra
    object: Literal["chat.completion"] = "chat.completion"


class ChatFault(Struct, frozen=True):
    """What went wrong: a message, the type of error, and its code."""

    message: str
    type: str
    code: str
    param: str | None = None


class ChatError(Struct, frozen=True):
    """An error in the format of OpenAI's API."""

    error: ChatFault


class ChatModel(Struct, frozen=True):
    """A generator, by the name that clients use. Its creation time is not known."""

    id: Annotated[str, Meta(examples=["citewell"])]
    created: int = 0
    object: Literal["model"] = "model"
    owned_by: str = "citewell"


class ChatModels(Struct, frozen=True):
    """All generators of the service."""

    data: list[ChatModel]
    object: Literal["list"] = "list"
