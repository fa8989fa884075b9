"""Episodes that the policy browses, all of an iteration in step, and its answers from their quotes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from citewell.browser.answering import answering_prompt
from citewell.browser.environment import Browser
from citewell.browser.episode import Ending, Episode
from citewell.browser.episodes import EpisodeLog
from citewell.browser.limits import BrowserLimits
from citewell.browser.policies.grammar import commands_grammar
from citewell.browser.policies.legal import onwards
from citewell.browser.training.encode import PairEncoder
from citewell.browser.training.measure import OpenWeb
from citewell.core.questions import AnsweredQuestion
from citewell.reinforcement.browsing.config import EpisodesConfig
from citewell.reinforcement.config import AnswersTrainingConfig
from citewell.reinforcement.networks import PolicyNetworks
from citewell.reinforcement.reading import draw
from citewell.reinforcement.sampler import DrawnAnswer, Sampler

_SEEDS = 10_000  # steps of the episodes of one seed, more than there are


class WrittenCompletion(NamedTuple):
    """What the policy wrote after a prompt."""

    prompt: tuple[int, ...]
    drawn: DrawnAnswer


@dataclass(frozen=True, slots=True)
class BrowsedEpisode:
    """An episode, with what the policy wrote in it: the commands, and the answer if there is one.

    An episode of answering only has the quotes of another one, and no commands.
    """

    episode: Episode
    completions: tuple[WrittenCompletion, ...]
    answers_only: bool = False


class EpisodeWriter:
    """Browses and answers with the current weights of the policy."""

    def __init__(
        self,
        networks: PolicyNetworks,
        limits: BrowserLimits,
        config: EpisodesConfig,
        training: AnswersTrainingConfig,
        open_web: OpenWeb,
        *,
        commands: Sampler,
        answers: Sampler,
    ) -> None:
        """`commands` and `answers` draw from the policy, each with its limit of tokens."""
        self._networks = networks
        self._encoder = PairEncoder(networks.model.get_base_model(), networks.tokenizer)
        self._limits = limits
        self._config = config
        self._training = training
        self._open_web = open_web
        self._commands = commands
        self._answers = answers

    def write(
        self, asked: Sequence[AnsweredQuestion], actions: Sequence[int], phases: int, seed: int
    ) -> list[BrowsedEpisode]:
        """Return an episode for each question, of at most `actions` commands, and those of answering only.

        `phases` are the answers to the quotes of each episode that can be answered, 0 for none. The first
        belongs to the episode; the others are episodes of answering only, and follow it.
        """
        browsed = asyncio.run(self._browse(asked, actions, seed * _SEEDS))
        return self._answered(browsed, phases, seed * _SEEDS + _SEEDS - 1) if phases else browsed

    async def _browse(
        self, asked: Sequence[AnsweredQuestion], actions: Sequence[int], seed: int
    ) -> list[BrowsedEpisode]:
        async with self._open_web() as web:
            running = [_RunningEpisode(Browser(web, self._limits, self._count)) for _ in asked]
            await asyncio.gather(
                *(
                    each.begin(row.question, most)
                    for each, row, most in zip(running, asked, actions, strict=True)
                )
            )
            step = 0
            while waiting := [each for each in running if each.ending is None]:
                prompts = [self._prompt(str(each.browser.state)) for each in waiting]
                grammars = [commands_grammar(onwards(each.browser.state)) for each in waiting]
                drawn = self._draw(
                    self._commands, prompts, seed + step, grammars if self._config.constrained else ()
                )
                written = [WrittenCompletion(*each) for each in zip(prompts, drawn, strict=True)]
                await asyncio.gather(
                    *(
                        each.step(self._text(one.drawn), one)
                        for each, one in zip(waiting, written, strict=True)
                    )
                )
                step += 1
            return [each.browsed(row.question) for each, row in zip(running, asked, strict=True)]

    def _answered(self, browsed: Sequence[BrowsedEpisode], phases: int, seed: int) -> list[BrowsedEpisode]:
        can = [each for each in browsed if each.episode.can_be_answered]
        prompts = {id(each): self._answering(each.episode) for each in can}
        several = [prompts[id(each)] for each in can for _ in range(phases)]
        drawn = iter(self._draw(self._answers, several, seed) if several else ())
        found: list[BrowsedEpisode] = []
        for each in browsed:
            if id(each) not in prompts:
                found.append(each)
                continue
            for phase in range(phases):
                answer = next(drawn)
                text = self._text(answer) if answer.ended else None
                written = WrittenCompletion(prompts[id(each)], answer)
                episode = replace(each.episode, answer=text, steps=() if phase else each.episode.steps)
                completions = (written,) if phase else (*each.completions, written)
                found.append(BrowsedEpisode(episode, completions, answers_only=phase > 0))
        return found

    def _answering(self, episode: Episode) -> tuple[int, ...]:
        quotes = dict(enumerate(episode.quotes, 1))
        return self._prompt(answering_prompt(episode.question, quotes, self._limits.state_tokens))

    def _prompt(self, text: str) -> tuple[int, ...]:
        ids = self._networks.tokenizer.encode(self._encoder.prompt(text), add_special_tokens=False)
        return tuple(ids)

    def _draw(
        self, sampler: Sampler, prompts: Sequence[Sequence[int]], seed: int, grammars: Sequence[str] = ()
    ) -> list[DrawnAnswer]:
        return draw(sampler, self._networks, prompts, seed, self._training, grammars)

    def _text(self, drawn: DrawnAnswer) -> str:
        text: str = self._networks.tokenizer.decode(drawn.tokens, skip_special_tokens=True)
        return text.strip()

    def _count(self, text: str) -> int:
        return len(self._networks.tokenizer.encode(text, add_special_tokens=False))


class _RunningEpisode:
    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.ending: Ending | None = None
        self._log = EpisodeLog("policy")
        self._completions: list[WrittenCompletion] = []

    async def begin(self, question: str, actions: int) -> None:
        await self.browser.reset(question, actions=actions)

    async def step(self, command: str, written: WrittenCompletion) -> None:
        outcome = await self.browser.step(command)
        self._log.add(outcome.step)
        self._completions.append(written)
        self.ending = outcome.ended

    def browsed(self, question: str) -> BrowsedEpisode:
        assert self.ending is not None
        episode = replace(self._log.episode(self.browser, self.ending), question=question)
        return BrowsedEpisode(episode, tuple(self._completions))


def drawn_actions(config: EpisodesConfig, count: int, seed: str) -> list[int]:
    """Return the max numbers of commands of `count` episodes, drawn uniformly (WebGPT §3.2)."""
    chance = random.Random(f"{seed} actions")  # noqa: S311
    return [chance.randint(config.fewest_actions, config.most_actions) for _ in range(count)]
