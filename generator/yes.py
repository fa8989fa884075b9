"""The probability of yes: a language model's answer to a question of yes or no, in this process or over HTTP.

Asked to write, a small model says yes nearly always; its probabilities tell more, and take one token.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError, ServiceAnswerError
from citewell.core.settings import GeneratorSettings
from citewell.core.threads import in_thread
from citewell.generator.auto import EXTRACTIVE, OPENAI, resolve_auto, writers
from citewell.generator.causal import CausalModel, YesAnswer
from citewell.generator.completion import CompletionRequest
from citewell.generator.load import open_client, open_named_model
from citewell.generator.local import rendered
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

    concurrency = 1

    def __init__(self, model: CausalModel, name: str) -> None:
        """Ask `model`, which may be shared."""
        self.name = name
        self._model = model

    async def ask(self, messages: Sequence[Message]) -> YesAnswer:
        """Return the share of yes in the probability of the first token."""
        return await in_thread(lambda: self._model.yes(rendered(self._model, messages)))


class ApiYesModel:
    """A model behind an OpenAI-compatible API that gives log probabilities."""

    def __init__(self, client: ChatClient, concurrency: int) -> None:
        """Ask with `client`, which the caller opens and closes."""
        self.name = f"{OPENAI}{client.model}"
        self.concurrency = concurrency
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


@asynccontextmanager
async def open_yes_model(
    given: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    on_step: OnStep = lambda name, step: None,
) -> AsyncGenerator[YesModel, None]:
    """Open the language model of the settings: a name of the catalog, a GGUF file or `openai:MODEL`.

    Raises `InputError` for the extractive generator, also where `auto` stands for it, `WeightsMissingError`
    for a model that is not installed, and `ModelError` for one that cannot be run or gives no probabilities.
    """
    wanted = await in_thread(lambda: resolve_auto(given).settings)
    if wanted.name == EXTRACTIVE:
        named = given.name == EXTRACTIVE
        raise InputError(
            "Only a language model can judge, and extractive is none."
            if named
            else "Only a language model can judge, and none is installed.",
            "Name a model of `citewell models`, a GGUF file or openai:MODEL."
            if named
            else f"Run: citewell models get {writers()[0].name}. Or name a GGUF file or openai:MODEL.",
        )
    if wanted.name.startswith(OPENAI):
        async with open_client(wanted) as client:
            yield ApiYesModel(client, wanted.concurrency)
    else:
        load = partial(open_named_model, wanted.name, cache_dir, threads=threads, on_step=on_step)
        yield LocalYesModel(await in_thread(load), wanted.name)


def yes_share(alternatives: Mapping[str, float]) -> float | None:
    """Return the probability of yes against no from log probabilities by token; None if both are missing."""
    yes, no = (
        sum(math.exp(value) for token, value in alternatives.items() if token.strip().lower() == word)
        for word in ("yes", "no")
    )
    return yes / (yes + no) if yes + no > 0 else None
