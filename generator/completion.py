"""What chat completion APIs give: answers, pieces of answers, counts of tokens; and what they refuse.

The form is OpenAI's (https://platform.openai.com/docs/api-reference/chat), which vLLM, llama.cpp, Ollama
and hosted services speak too, each a little differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from citewell.core.http_service import JsonObject
from citewell.core.text import encodable


class TokenUsage(NamedTuple):
    """Tokens that were read and written, as the service counts them."""

    prompt_tokens: int
    answer_tokens: int


class Completion(NamedTuple):
    """An answer. `finish_reason` is `stop`, `length` where the limit of tokens cut it, or the service's own.

    `usage` is None where the service does not say; `model` is who wrote it, as the service says.
    """

    text: str
    finish_reason: str
    usage: TokenUsage | None
    model: str


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of candidate `index`. The last piece of a candidate has a `finish_reason`.

    `thinking` says that the piece belongs to a text which is not the answer.
    """

    text: str
    index: int = 0
    finish_reason: str = ""
    thinking: bool = False


def read_completion(body: JsonObject) -> Completion | None:
    """The first choice of a whole answer; None where the body is no chat completion."""
    choice = next(_choices(body), None)
    message = choice.get("message") if choice is not None else None
    if choice is None or not isinstance(message, dict):
        return None
    model = body.get("model")
    return Completion(
        _text(message), _reason(choice), read_usage(body), model if isinstance(model, str) else ""
    )


def read_deltas(body: JsonObject) -> list[Delta] | None:
    """The pieces of an event of a stream, or of a whole answer; None where it is neither."""
    if not isinstance(body.get("choices"), list):
        return None
    found = []
    for place, choice in enumerate(_choices(body)):
        message = choice.get("delta") or choice.get("message") or {}
        if not isinstance(message, dict):
            return None
        index = choice.get("index")
        text = _text(message)
        thinking = not text and bool(message.get("reasoning_content") or message.get("reasoning"))
        found.append(Delta(text, index if isinstance(index, int) else place, _reason(choice), thinking))
    return found


def read_usage(body: JsonObject) -> TokenUsage | None:
    """The counts of tokens of an answer; None where it has none."""
    usage = body.get("usage")
    if not isinstance(usage, dict):
        return None
    counts = [usage.get("prompt_tokens"), usage.get("completion_tokens")]
    numbers = [count for count in counts if isinstance(count, int)]
    return TokenUsage(*numbers) if len(numbers) == len(counts) else None


def _choices(body: JsonObject) -> Iterator[JsonObject]:
    choices = body.get("choices")
    yield from (choice for choice in choices if isinstance(choice, dict)) if isinstance(choices, list) else ()


def _reason(choice: JsonObject) -> str:
    reason = choice.get("finish_reason")
    return reason if isinstance(reason, str) else ""


def _text(message: JsonObject) -> str:
    """The text of a message, whose content may be in parts, or missing where the model declined."""
    content: Any = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    if not content:
        content = message.get("refusal")
    return encodable(content) if isinstance(content, str) else ""
