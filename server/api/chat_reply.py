"""Stored answers as chat completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from citewell.generator.estimate import estimate_tokens
from citewell.server.api.chat_question import unread
from citewell.server.api.chat_schemas import (
    ChatAnswer,
    ChatChoice,
    ChatExtra,
    ChatReply,
    ChatRequest,
    ChatUsage,
)
from citewell.server.api.chat_text import answer_text, end_text
from citewell.server.api.schemas import to
from citewell.server.store.answers import StoredAnswer


@dataclass(frozen=True)
class ChatCompletion:
    """An answer and the request that decides its format."""

    asked: ChatRequest
    model: str
    answer: StoredAnswer

    @property
    def id(self) -> str:
        """The id of the completion, which contains that of the answer."""
        return f"chatcmpl-{self.answer.id}"

    @property
    def created(self) -> int:
        """When the question was asked, in seconds since 1970."""
        return int(self.answer.created.timestamp())

    @property
    def text(self) -> str:
        """The answer alone."""
        return answer_text(self._body)

    @property
    def end(self) -> str:
        """The footnotes, and the notices for readers who see the text alone."""
        rewritten = self._body["rewritten"]
        answered = (f"Answered as: {rewritten}",) if rewritten else ()
        return end_text(self._body, (*answered, *self._body["notices"]))

    def usage(self) -> ChatUsage:
        """Return the length of the question and of the text, in tokens."""
        prompt = estimate_tokens(self.answer.question)
        completion = estimate_tokens(self.text + self.end)
        return ChatUsage(prompt, completion, prompt + completion)

    def extra(self) -> ChatExtra:
        """Return the parts of the answer that are not text."""
        values: dict[str, Any] = {
            **self._body,
            "id": self.answer.id,
            "cached": bool(self.answer.settings.get("cached")),
            "notices": [*self._body["notices"], *unread(self.asked)],
        }
        extra: ChatExtra = to(ChatExtra, values)
        return extra

    def whole(self) -> ChatAnswer:
        """Return the whole completion."""
        choice = ChatChoice(ChatReply(self.text + self.end))
        return ChatAnswer(self.id, self.created, self.model, [choice], self.usage(), self.extra())

    @property
    def _body(self) -> Mapping[str, Any]:
        assert self.answer.body is not None
        return self.answer.body
