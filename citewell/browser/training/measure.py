"""The dev metrics of a policy: the loss of held-out commands, and the reward of episodes that it browses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from citewell.browser.environment import Browser
from citewell.browser.state import State
from citewell.browser.training.config import PolicyRecipe, RewardConfig
from citewell.browser.training.encode import PairEncoder
from citewell.browser.training.sources import PairSource
from citewell.browser.web import Web
from citewell.core.answers import has_answer
from citewell.core.questions import AnsweredQuestion
from citewell.generator.training.collate import padded
from citewell.generator.training.loss import answer_loss, answer_tokens
from citewell.generator.training.writing import write_answers

OpenWeb = Callable[[], AbstractAsyncContextManager[Web]]

_LOSS_OF_SCORE = 0.01


class DevEpisodes:
    """The demonstrations and questions on which a policy is evaluated each time."""

    def __init__(
        self,
        sources: Sequence[PairSource],
        asked: Sequence[AnsweredQuestion],
        config: PolicyRecipe,
        encoder: PairEncoder,
        open_web: OpenWeb,
    ) -> None:
        self._sources = sources
        self._asked = asked
        self._config = config
        self._encoder = encoder
        self._open_web = open_web

    def measure(self, model: Any) -> dict[str, float]:
        """Return `command_loss` per token and, with questions, `reward`, `valid` and `score`.

        `reward` is the share of episodes in which a quote has an answer, and `valid` that of valid commands,
        decoded greedily without a grammar. `score` selects the best checkpoint.
        """
        model.eval()
        loss = self._loss(model)
        if self._config.reward is None:
            return {"command_loss": loss}
        results = asyncio.run(self._browse(model, self._config.reward))
        reward = sum(result.found for result in results) / len(results)
        written = sum(result.commands for result in results)
        valid = sum(result.valid for result in results) / max(1, written)
        return {
            "command_loss": loss,
            "reward": reward,
            "valid": valid,
            "score": reward - _LOSS_OF_SCORE * loss,
        }

    def _loss(self, model: Any) -> float:
        import torch

        total, tokens = 0.0, 0
        with torch.no_grad():
            for pair in (pair for source in self._sources for pair in source.pairs):
                part = padded([self._encoder.encode(pair)])
                part = {name: value.to(model.device) for name, value in part.items()}
                total += float(answer_loss(model, part))
                tokens += answer_tokens(part)
        return total / tokens

    async def _browse(self, model: Any, reward: RewardConfig) -> list[_Result]:
        """Browse all episodes in parallel: a batch of commands takes little longer than one."""

        def count(text: str) -> int:
            return len(self._encoder.tokenizer.encode(text, add_special_tokens=False))

        async with self._open_web() as web:
            episodes = [
                _Running(Browser(web, self._config.browser.limits, count), row) for row in self._asked
            ]
            await asyncio.gather(*(episode.begin(reward.actions) for episode in episodes))
            while running := [episode for episode in episodes if not episode.ended]:
                prompts = [self._encoder.prompt(str(episode.state)) for episode in running]
                commands = write_answers(
                    model,
                    self._encoder.tokenizer,
                    prompts,
                    most=reward.command_tokens,
                    frequency_penalty=0.0,
                )
                await asyncio.gather(
                    *(each.step(command) for each, command in zip(running, commands, strict=True))
                )
            return [episode.result for episode in episodes]


class _Result(NamedTuple):
    found: bool
    commands: int
    valid: int


class _Running:
    """A running episode."""

    def __init__(self, browser: Browser, asked: AnsweredQuestion) -> None:
        self._browser = browser
        self._asked = asked
        self._commands = 0
        self._valid = 0
        self.ended = False

    @property
    def result(self) -> _Result:
        """The result so far."""
        found = any(has_answer(quote.text, self._asked.answers) for quote in self._browser.quotes)
        return _Result(found, self._commands, self._valid)

    async def begin(self, actions: int) -> None:
        """Ask the question."""
        self.state: State = await self._browser.reset(self._asked.question, actions=actions)

    async def step(self, command: str) -> None:
        """Give a command."""
        outcome = await self._browser.step(command)
        self.state = outcome.state
        self._commands += 1
        self._valid += outcome.step.kind != "invalid"
        self.ended = outcome.ended is not None
