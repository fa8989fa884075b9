"""The question and the turns of a conversation, and the parts of the request that are ignored or refused."""

from __future__ import annotations

import re

from citewell.core.errors import InputError
from citewell.core.types import Turn
from citewell.server.api.chat_errors import UnsupportedParameterError
from citewell.server.api.chat_schemas import ChatMessage, ChatRequest

_UNUSED = (
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "reasoning_effort",
    "verbosity",
    "prediction",
    "web_search_options",
)
_INSTRUCTIONS = frozenset({"system", "developer"})
_TURNS = 8  # the newest ones before the question
_MARK = re.compile(r" ?(?:\[\d+\])+")
_END = re.compile(r"\n\n(?:- \[\d+\]|Note: )")  # footnotes and notices


def check_parameters(asked: ChatRequest) -> None:
    """Raise `UnsupportedParameterError` for a parameter that would change the answer but is not supported."""
    if asked.n is not None and asked.n != 1:
        raise UnsupportedParameterError("n", "a question has one answer", "Use n=1.")
    if asked.tools or asked.functions:
        name = "tools" if asked.tools else "functions"
        raise UnsupportedParameterError(name, "answers come from references and call no tools")
    if asked.response_format and asked.response_format.get("type") != "text":
        raise UnsupportedParameterError(
            "response_format",
            "an answer is text",
            "POST /v1/answers returns the answer with its sentences and references as JSON.",
        )
    if asked.modalities and asked.modalities != ["text"]:
        raise UnsupportedParameterError("modalities", "an answer is text")
    if asked.stop:
        raise UnsupportedParameterError("stop", "an answer ends where it is complete")
    if asked.logprobs:
        raise UnsupportedParameterError(
            "logprobs", "the text is the checked answer, not the output of a model"
        )
    if asked.logit_bias:
        raise UnsupportedParameterError("logit_bias", "the settings say how answers are written")


def question_of(asked: ChatRequest) -> str:
    """Return the text of the last user message.

    Raises `InputError` if there is none, and `UnsupportedParameterError` if it contains more than text.
    """
    content = _mine(asked)[-1:]
    if not content or content[0].content is None:
        raise InputError("No user message.", "Send the question as the last message.")
    parts = content[0].content
    for part in () if isinstance(parts, str) else parts:
        if part.get("type") != "text" or not isinstance(part.get("text"), str):
            kind = str(part.get("type"))[:64]
            raise UnsupportedParameterError(
                "messages", f"content of type {kind!r} is not supported", "Send only text."
            )
    return _text(content[0])


def turns_of_messages(asked: ChatRequest) -> tuple[Turn, ...]:
    """Return the questions before the last, each with what was answered, without marks and footnotes."""
    turns: list[Turn] = []
    for message in asked.messages:
        if message.role == "user" and (text := _text(message)):
            turns.append(Turn(text))
        elif message.role == "assistant" and turns:
            answer = _MARK.sub("", _END.split(_text(message), maxsplit=1)[0]).strip()
            turns[-1] = Turn(turns[-1].question, answer)
    return tuple(turns[:-1][-_TURNS:])


def _text(message: ChatMessage) -> str:
    """Return the text of a message, without parts that are not text."""
    parts = message.content or ""
    if isinstance(parts, str):
        return parts
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def unread(asked: ChatRequest) -> tuple[str, ...]:
    """Notices about the parts of the request that are ignored."""
    notices = []
    if any(message.role in _INSTRUCTIONS for message in asked.messages):
        notices.append("System prompts are ignored.")
    if unused := [name for name in _UNUSED if getattr(asked, name) is not None]:
        notices.append(f"These parameters are ignored: {', '.join(unused)}.")
    return tuple(notices)


def _mine(asked: ChatRequest) -> list[ChatMessage]:
    return [message for message in asked.messages if message.role == "user"]
