"""The teacher over HTTP: any model behind an API of chat completions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from citewell.bootstrap.config import TeacherConfig, TeacherPromptConfig
from citewell.bootstrap.rate import RateLimit
from citewell.bootstrap.teacher import PaidError, TeacherAnswer
from citewell.bootstrap.types import BootstrapTask, TeacherUsage
from citewell.core.errors import CitewellError
from citewell.core.redact import published_name
from citewell.core.types import Reference
from citewell.generator.completion import CompletionRequest
from citewell.generator.estimate import cut_to, estimate_tokens
from citewell.generator.prompt import WEBGLM, build_messages

if TYPE_CHECKING:
    from citewell.generator.chat_client import ChatClient

_MILLION = 1_000_000


class CompletionTeacher:
    """A chat model as a teacher. The client bounds concurrent requests and repeats temporary failures.

    The prompt is cut to its limit by an estimate of its tokens, since each service counts differently. The
    tokens of the usage are those that the service reports, 0 if it reports none.
    """

    def __init__(self, client: ChatClient, prompt: TeacherPromptConfig, config: TeacherConfig) -> None:
        """`client` is entered by the caller; `prompt` and `config` are sections of the recipe."""
        self.name = published_name(f"openai:{client.model}")
        self._form = prompt.form(WEBGLM)
        self.prompt_hash = self._form.hash
        self._client = client
        self._prompt = prompt
        self._config = config
        self._request = CompletionRequest(max_tokens=config.answer_tokens, temperature=config.temperature)
        self._limit = RateLimit(config.requests_a_minute, config.tokens_a_minute)

    async def sample(
        self, task: BootstrapTask, references: Sequence[Reference], n: int
    ) -> list[TeacherAnswer]:
        """Ask for `n` answers at the same time.

        Raises `ServiceError` if the service gives none, and `PaidError` if it does not give all.
        """
        asked = await asyncio.gather(
            *(self.write(task, references) for _ in range(n)), return_exceptions=True
        )
        answers = [each for each in asked if isinstance(each, TeacherAnswer)]
        for failed in asked:
            if isinstance(failed, CitewellError) and answers:
                raise PaidError(failed, reduce(add, (each.usage for each in answers))) from failed
            if isinstance(failed, BaseException):
                raise failed
        return answers

    async def write(self, task: BootstrapTask, references: Sequence[Reference]) -> TeacherAnswer:
        """Ask for one answer; raises `ServiceError` if the service gives none."""
        messages = build_messages(
            task.question,
            references,
            budget=self._prompt.tokens,
            count=estimate_tokens,
            cut=cut_to,
            form=self._form,
        )
        expected = sum(estimate_tokens(message["content"]) for message in messages)
        expected += self._config.answer_tokens
        await self._limit.wait(expected)
        completion = await self._client.complete(messages, self._request)
        usage = TeacherUsage(requests=1)
        if completion.usage is not None:
            read, written = completion.usage
            self._limit.settle(expected, read + written)
            cost = (read * self._config.prompt_price + written * self._config.answer_price) / _MILLION
            usage = TeacherUsage(requests=1, prompt_tokens=read, answer_tokens=written, cost=cost)
        return TeacherAnswer(completion.text, usage, truncated=completion.finish_reason == "length")
