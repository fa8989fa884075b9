"""Judges: language models that are asked whether a passage answers a question."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citewell.core.build_cache import OnStep
from citewell.core.errors import InputError, ServiceAnswerError
from citewell.core.settings import GeneratorSettings
from citewell.core.threads import in_thread
from citewell.generator.auto import EXTRACTIVE, OPENAI
from citewell.generator.completion import CompletionRequest
from citewell.generator.first_token import FirstTokenModel, open_first_token
from citewell.generator.load import open_client
from citewell.generator.prompt import Message

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient

_INSTRUCTION = "You judge whether a passage answers a question. Reply with one word: Yes or No."
_ASKED = """\
Passage: {title}. {text}

Question: {question}?

Does the passage contain the answer to the question?"""
_YES, _NO = ("Yes", "yes"), ("No", "no")
_WORDS = 190  # of a passage
_ALTERNATIVES = 20


class Verdict(NamedTuple):
    """The probability of yes against no, and the tokens that were read."""

    yes: float
    tokens: int


class AnswerJudge(Protocol):
    """A language model that judges one passage at a time; `concurrency` may be asked at a time."""

    concurrency: int

    async def judge(self, question: str, title: str, text: str) -> Verdict:
        """Return whether the passage answers the question."""
        ...


class LocalJudge:
    """A judge in this process."""

    concurrency = 1

    def __init__(self, model: FirstTokenModel) -> None:
        self._model = model
        self._turn = asyncio.Lock()

    async def judge(self, question: str, title: str, text: str) -> Verdict:
        """Return the share of yes in the probability of the first token."""
        async with self._turn:
            asked = judge_prompt(question, title, text)
            (yes, _), tokens = await in_thread(partial(self._model.shares, asked, (_YES, _NO)))
        return Verdict(yes, tokens)


class ApiJudge:
    """A judge behind an OpenAI-compatible API that gives log probabilities."""

    def __init__(self, client: ChatClient, concurrency: int) -> None:
        self.concurrency = concurrency
        self._client = client

    async def judge(self, question: str, title: str, text: str) -> Verdict:
        """Return the share of yes among the alternatives of the first token.

        Raises `ServiceAnswerError` if the service gives no log probabilities of yes or no.
        """
        request = CompletionRequest(max_tokens=1, alternatives=_ALTERNATIVES)
        completion = await self._client.complete(judge_prompt(question, title, text), request)
        found = yes_share(completion.alternatives)
        if found is None:
            raise ServiceAnswerError(
                f"The model {self._client.model} gives no log probabilities of yes or no.",
                "Use a service that knows top_logprobs and a model that follows instructions.",
            )
        return Verdict(found, completion.usage.prompt_tokens if completion.usage else 0)


@asynccontextmanager
async def open_judge(
    wanted: GeneratorSettings,
    cache_dir: Path,
    *,
    threads: int,
    on_step: OnStep = lambda name, step: None,
) -> AsyncGenerator[AnswerJudge, None]:
    """Open the language model of the settings as a judge: a GGUF file, a packaged model or `openai:MODEL`.

    Raises `InputError` for the extractive generator, and `ModelError` for a model that cannot be run.
    """
    if wanted.name == EXTRACTIVE:
        raise InputError(
            "Only a language model can judge, and extractive is none.",
            "Name a GGUF file or openai:MODEL with --teacher.",
        )
    if wanted.name.startswith(OPENAI):
        async with open_client(wanted) as client:
            yield ApiJudge(client, wanted.concurrency)
    else:
        load = partial(open_first_token, wanted.name, cache_dir, threads=threads, on_step=on_step)
        yield LocalJudge(await in_thread(load))


def judge_prompt(question: str, title: str, text: str) -> list[Message]:
    """Return the messages of a judgment; long passages are cut."""
    shown = " ".join(text.split()[:_WORDS])
    asked = _ASKED.format(title=title, text=shown, question=question.strip().rstrip("?"))
    return [{"role": "system", "content": _INSTRUCTION}, {"role": "user", "content": asked}]


def yes_share(alternatives: Mapping[str, float]) -> float | None:
    """Return the probability of yes against no from log probabilities by token; None if both are missing."""
    yes, no = (
        sum(math.exp(value) for token, value in alternatives.items() if token.strip().lower() == word)
        for word in ("yes", "no")
    )
    return yes / (yes + no) if yes + no > 0 else None
