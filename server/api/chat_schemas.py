"""The bodies of the addresses that speak as OpenAI's API does.

They are those of https://platform.openai.com/docs/api-reference/chat, as far as they make sense here, and the
field `citewell` with what an answer has beyond a text.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from citewell.core.types import Failure, Reference, Sentence
from citewell.server.api.schemas import Id

_NOT_USED = "Accepted, and not used: the settings of the service say how answers are written."
Number = Annotated[float, Meta(description=_NOT_USED)]
Count = Annotated[int, Meta(description=_NOT_USED)]


class ChatMessage(Struct, frozen=True):
    """A message of the conversation; the content is a text, or a list of parts of the type `text`."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Annotated[
        str | list[dict[str, Any]] | None, Meta(examples=["How do bats find their way in the dark?"])
    ] = None


class StreamOptions(Struct, frozen=True):
    """What a stream brings beside the answer."""

    include_usage: bool | None = None


class ChatRequest(Struct, frozen=True, kw_only=True):
    """A conversation, of which the last message of the user is the question.

    Keys that are not listed here are ignored.
    """

    messages: Annotated[
        list[ChatMessage],
        Meta(
            min_length=1,
            max_length=2_000,
            examples=[[{"role": "user", "content": "How do bats find their way in the dark?"}]],
        ),
    ]
    model: Annotated[str, Meta(max_length=200, description="A generator.", examples=["citewell"])] = (
        "citewell"
    )
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Number | None = None
    top_p: Number | None = None
    presence_penalty: Number | None = None
    frequency_penalty: Number | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    seed: Count | None = None
    n: Annotated[int, Meta(description="Answers wanted; more than 1 is refused.")] | None = None
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
    """The message that answers."""

    content: Annotated[str, Meta(description="Markdown: the answer, its footnotes and notices.")]
    role: Literal["assistant"] = "assistant"


class ChatChoice(Struct, frozen=True):
    """The one answer there is."""

    message: ChatReply
    index: int = 0
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatUsage(Struct, frozen=True):
    """Estimated tokens, one for three bytes of UTF-8: of the question, and of the reply's text."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatExtra(Struct, frozen=True):
    """What an answer has beyond a text."""

    id: Annotated[Id, Meta(description="The answer's own id, as in `GET /v1/answers/{id}`.")]
    outcome: Literal["answered", "no_evidence"]
    cached: bool
    sentences: list[Sentence]
    references: list[Reference]
    failures: list[Failure]
    notices: list[str]
    timings: dict[str, float]
    models: dict[str, str]


class ChatAnswer(Struct, frozen=True):
    """An answer as OpenAI's chat completions have it, and the field `citewell`."""

    id: str
    created: Annotated[int, Meta(description="When the question was asked, in seconds since 1970.")]
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    citewell: ChatExtra
    object: Literal["chat.completion"] = "chat.completion"


class ChatFault(Struct, frozen=True):
    """What went wrong, in words, by its kind, and by its name."""

    message: str
    type: str
    code: str
    param: str | None = None


class ChatError(Struct, frozen=True):
    """An error as OpenAI's API has it."""

    error: ChatFault


class ChatModel(Struct, frozen=True):
    """A generator under the name by which clients choose it; when it was made is not known."""

    id: Annotated[str, Meta(examples=["citewell"])]
    created: int = 0
    object: Literal["model"] = "model"
    owned_by: str = "citewell"


class ChatModels(Struct, frozen=True):
    """All generators of the service."""

    data: list[ChatModel]
    object: Literal["list"] = "list"
