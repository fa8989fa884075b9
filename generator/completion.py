"""Requests to chat completion APIs, and their answers.

https://platform.openai.com/docs/api-reference/chat. Answers are objects of the SDK `openai`, which checks no
types: vLLM, llama.cpp, Ollama and hosted services each speak the API a little differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from citewell.core.http_service import JsonObject
from citewell.core.text import encodable
from citewell.generator.prompt import Message
from citewell.generator.thinking import without_thinking


class Replacement(NamedTuple):
    """A parameter that a model refuses, and the model's own name for it, if any."""

    refused: str
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionRequest:
    """The parameters of a request besides its messages. Without a seed, the service chooses one.

    `alternatives` asks for the log probabilities of that many alternatives to each token. `extra_body` are
    members of the body that only some services know.
    """

    max_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    n: int = 1
    alternatives: int = 0
    extra_body: JsonObject = field(default_factory=dict)

    def parameters(
        self, model: str, messages: Sequence[Message], replacements: Sequence[Replacement]
    ) -> dict[str, Any]:
        """Return the arguments of the SDK's `create`, without parameters that the model refuses."""
        found: dict[str, Any] = {
            "model": model,
            "messages": list(messages),
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
        }
        found |= {"seed": self.seed} if self.seed is not None else {}
        found |= {"n": self.n} if self.n > 1 else {}
        found |= {"logprobs": True, "top_logprobs": self.alternatives} if self.alternatives else {}
        for refused, instead in replacements:
            if refused in found:
                value = found.pop(refused)
                found |= {instead: value} if instead else {}
        return found | ({"extra_body": self.extra_body} if self.extra_body else {})


class TokenUsage(NamedTuple):
    """Tokens that were read and written, as the service counts them."""

    prompt_tokens: int
    answer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """An answer. `finish_reason` is `stop`, `length` when the limit of tokens cut it, or the service's own.

    `usage` is None when the service does not say; `model` is the writer by the service's account.
    `alternatives` are the log probabilities of the first token's alternatives, if they were asked for.
    """

    text: str
    finish_reason: str
    usage: TokenUsage | None
    model: str
    alternatives: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of candidate `index`. The last piece of a candidate has a `finish_reason`.

    `thinking` says that the piece is not part of the answer.
    """

    text: str
    index: int = 0
    finish_reason: str = ""
    thinking: bool = False


def read_completion(answer: object) -> Completion | None:
    """Return the first choice of an answer; None if it is not a chat completion."""
    message = next((getattr(choice, "message", None) for choice in _choices(answer)), None)
    if not hasattr(message, "content"):
        return None
    return Completion(
        text=without_thinking(_text(message)),
        finish_reason=_string(_choices(answer)[0], "finish_reason"),
        usage=_usage(answer),
        model=_string(answer, "model"),
        alternatives=_alternatives(_choices(answer)[0]),
    )


def read_deltas(chunk: object) -> list[Delta] | None:
    """Return the pieces in an event of a stream, or in a whole answer; None if it is neither."""
    if not isinstance(getattr(chunk, "choices", None), list):
        return None
    found = []
    for position, choice in enumerate(_choices(chunk)):
        message = getattr(choice, "delta", None) or getattr(choice, "message", None)
        if message is not None and not hasattr(message, "content"):
            return None
        text = _text(message)
        thinking = not text and any(_string(message, name) for name in ("reasoning_content", "reasoning"))
        index = getattr(choice, "index", None)
        found.append(
            Delta(
                text,
                index if isinstance(index, int) else position,
                _string(choice, "finish_reason"),
                thinking,
            )
        )
    return found


def _choices(answer: object) -> list[object]:
    choices = getattr(answer, "choices", None)
    return choices if isinstance(choices, list) else []


def _usage(answer: object) -> TokenUsage | None:
    usage = getattr(answer, "usage", None)
    read, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
    return TokenUsage(read, written) if isinstance(read, int) and isinstance(written, int) else None


def _alternatives(choice: object) -> dict[str, float]:
    content = getattr(getattr(choice, "logprobs", None), "content", None) or []
    listed = [getattr(token, "top_logprobs", None) or [] for token in content[:1]]
    found = ((_string(each, "token"), getattr(each, "logprob", None)) for each in (listed or [[]])[0])
    return {token: float(value) for token, value in found if isinstance(value, int | float)}


def _string(value: object, name: str) -> str:
    found = getattr(value, name, None)
    return found if isinstance(found, str) else ""


def _text(message: object) -> str:
    """Return the text of a message, whose content may be in parts, or missing if the model declined."""
    content = getattr(message, "content", None)
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    return encodable(content or _string(message, "refusal")) if isinstance(content, str | None) else ""
