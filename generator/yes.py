"""The probability of yes: a language model's answer to a question of yes or no, in this process or over HTTP.

Asked to write, a small model says yes nearly always; its probabilities tell more, and take one token.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from citewell.core.errors import ServiceAnswerError
from citewell.core.threads import in_own_thread
from citewell.generator.auto import OPENAI
from citewell.generator.causal import CausalModel, YesAnswer, rendered
from citewell.generator.completion import CompletionRequest
from citewell.generator.prompt import Message

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient

_ALTERNATIVES = 20  # the most that OpenAI's API gives


class YesModel(Protocol):
    """A language model called `name`, which at most `concurrency` questions are asked at a time."""

    name: str
    concurrency: int

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        """Return the answer to messages that ask for a yes or a no."""
        ...


class LocalYesModel:
    """A model in this process."""

    def __init__(self, model: CausalModel, name: str) -> None:
        """Ask `model`, which may be shared."""
        self.name = name
        self.concurrency = model.concurrency
        self._model = model

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        """Return the share of yes in the probability of the first token."""
        return await in_own_thread(lambda: self._model.yes(rendered(self._model, messages)))


class ApiYesModel:
    """A model behind an OpenAI-compatible API that gives log probabilities."""

    def __init__(self, client: ChatClient) -> None:
        """Ask with `client`, which the caller opens and closes."""
        self.name = f"{OPENAI}{client.model}"
        self.concurrency = client.concurrency
        self._client = client

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        """Return the share of yes among the alternatives of the first token.

        Raises `ServiceAnswerError` if the service gives no log probabilities of yes or no.
        """
        request = CompletionRequest(max_tokens=1, alternatives=_ALTERNATIVES)
        completion = await self._client.complete(messages, request)
        found = yes_share(completion.alternatives)
        if found is None:
            raise ServiceAnswerError(
                f"The model {self._client.model} gives no log probabilities of yes or no.",
                "Use a service that knows top_logprobs and a model that follows instructions.",
            )
        return YesAnswer(found, completion.usage.prompt_tokens if completion.usage else 0)


async def ask_all(model: YesModel, questions: Sequence[Sequence[Message]]) -> list[YesAnswer]:
    """Return the answers of a model to several questions, which it reads together if it can.

    Raises the first error of the model; the other questions are then dropped.
    """
    asked = [asyncio.create_task(model.ask(question)) for question in questions]
    try:
        return await asyncio.gather(*asked)
    finally:
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)


def yes_share(alternatives: Mapping[str, float]) -> float | None:
    """Return the probability of yes against no from log probabilities by token; None if both are missing."""
    yes, no = (
        sum(math.exp(value) for token, value in alternatives.items() if token.strip().lower() == word)
        for word in ("yes", "no")
    )
    return yes / (yes + no) if yes + no > 0 else None
