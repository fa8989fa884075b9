"""The browser as an environment of PPO: episodes are rewarded at their ends, and cut into completions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from citewell.browser.evaluation.success import succeeds
from citewell.core.questions import AnsweredQuestion
from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.browsing.config import BrowsingRecipe
from citewell.reinforcement.browsing.episodes import (
    BrowsedEpisode,
    EpisodeWriter,
    WrittenCompletion,
    drawn_actions,
)
from citewell.reinforcement.browsing.returns import estimates_of
from citewell.reinforcement.browsing.reward import RateEpisode
from citewell.reinforcement.networks import PolicyNetworks
from citewell.reinforcement.reading import ReadCompletion, read_rows
from citewell.reinforcement.returns import token_rewards
from citewell.reinforcement.rollout import (
    Gathered,
    PromptedQuestion,
    RatedEpisode,
    Rollout,
    with_normalized,
)


class QuestionSource(NamedTuple):
    """Questions, and their weight in the draw."""

    questions: tuple[AnsweredQuestion, ...]
    share: float = 1.0


class BrowsingExperience:
    """The questions of a recipe, and the episodes that the policy browses for them."""

    def __init__(
        self,
        networks: PolicyNetworks,
        writer: EpisodeWriter,
        rate: RateEpisode,
        train: Sequence[QuestionSource],
        dev: Sequence[AnsweredQuestion],
        config: BrowsingRecipe,
    ) -> None:
        self._networks = networks
        self._writer = writer
        self._rate = rate
        self._dev = dev
        self._config = config
        seed = config.training.seed
        self._asked = list(drawn_questions(train, config.ppo.iterations * config.ppo.batch, seed))

    def gather(self, iteration: int, seed: int) -> Gathered:
        """Return the completions of an iteration's episodes, and of the episodes of answering only."""
        config, batch = self._config, self._config.ppo.batch
        asked = self._asked[iteration * batch : (iteration + 1) * batch]
        actions = drawn_actions(config.episodes, batch, f"{config.training.seed} {iteration}")
        phases = config.episodes.answer_phases if config.reward.answers else 0
        episodes = self._writer.write(asked, actions, phases, seed)
        read = self._read(episodes)
        rated: list[RatedEpisode] = []
        for each, completions in zip(episodes, read, strict=True):
            rated += rated_completions(each, completions, self._rate(each.episode), config)
        tokens = sum(len(each.rollout.asked.prompt) + len(each.rollout.completion) for each in rated)
        return Gathered(with_normalized(rated), self._measures(episodes, read, asked), tokens)

    def measure(self, seed: int) -> dict[str, float]:
        """Return the means over a dev episode for each question, of the most actions and with one answer."""
        actions = [self._config.episodes.most_actions] * len(self._dev)
        episodes = self._writer.write(self._dev, actions, int(self._config.reward.answers), seed)
        return self._measures(episodes, self._read(episodes), self._dev)

    def _read(self, episodes: Sequence[BrowsedEpisode]) -> list[list[ReadCompletion]]:
        written = [one for each in episodes for one in each.completions]
        rows = [TokenizedExample(one.prompt, one.drawn.tokens) for one in written]
        allowed = [one.drawn.allowed for one in written]
        read = iter(read_rows(self._networks, rows, allowed, self._config.training))
        return [[next(read) for _ in each.completions] for each in episodes]

    def _measures(
        self,
        episodes: Sequence[BrowsedEpisode],
        read: Sequence[Sequence[ReadCompletion]],
        asked: Sequence[AnsweredQuestion],
    ) -> dict[str, float]:
        whole = [
            (each.episode, completions)
            for each, completions in zip(episodes, read, strict=True)
            if not each.answers_only
        ]
        steps = [step for episode, _ in whole for step in episode.steps]
        kl = [sum(float((c.logp - c.logp_reference).sum()) for c in of) for _, of in whole]
        answers = {row.question: row.answers for row in asked}
        return {
            "score": fmean(self._rate(episode) for episode, _ in whole),
            "kl": fmean(kl),
            "found": fmean(succeeds(episode, answers[episode.question]) for episode, _ in whole),
            "quotes": fmean(len(episode.quotes) for episode, _ in whole),
            "actions": len(steps) / len(whole),
            "valid": fmean(step.kind != "invalid" for step in steps),
        }


def rated_completions(
    browsed: BrowsedEpisode, read: Sequence[ReadCompletion], score: float, config: BrowsingRecipe
) -> list[RatedEpisode]:
    """Return the completions of an episode, in chunks, with advantages; the score is the reward of the last.

    A completion longer than `episodes.chunk_tokens` is several steps: the state stays, and what is written so
    far follows it (WebGPT, appendix E, maximum tokens per action).
    """
    rollouts = [
        chunk
        for written, tokens in zip(browsed.completions, read, strict=True)
        for chunk in chunks(browsed, written, tokens, config.episodes.chunk_tokens)
    ]
    last = len(rollouts) - 1
    rewards = [
        token_rewards(each.logp, each.logp_reference, score if place == last else 0.0, config.ppo.beta)
        for place, each in enumerate(rollouts)
    ]
    estimates = estimates_of(rewards, [each.values for each in rollouts], config.ppo.gae_lambda)
    return [RatedEpisode(each, *estimate) for each, estimate in zip(rollouts, estimates, strict=True)]


def chunks(
    browsed: BrowsedEpisode, written: WrittenCompletion, read: ReadCompletion, most: int
) -> Iterator[Rollout]:
    """Yield a completion in pieces of at most `most` tokens, each after the prompt and the earlier pieces."""
    tokens = written.drawn.tokens
    for start in range(0, len(tokens), most):
        piece = slice(start, start + most)
        allowed = written.drawn.allowed
        yield Rollout(
            asked=PromptedQuestion(browsed.episode.question, (), written.prompt + tokens[:start]),
            completion=tokens[piece],
            text="",
            score=0.0,
            parts={},
            logp=read.logp[piece],
            logp_reference=read.logp_reference[piece],
            values=read.values[piece],
            states=None if read.states is None else read.states[piece],
            allowed=None if allowed is None else allowed[piece],
        )


def drawn_questions(sources: Sequence[QuestionSource], count: int, seed: int) -> Iterator[AnsweredQuestion]:
    """Yield `count` questions, drawn from the sources by their shares, each once before any a second time."""
    chance = random.Random(f"{seed} questions")  # noqa: S311
    waiting: list[list[AnsweredQuestion]] = [[] for _ in sources]
    for _ in range(count):
        (place,) = chance.choices(range(len(sources)), [each.share for each in sources])
        if not waiting[place]:
            questions = sources[place].questions
            waiting[place] = chance.sample(questions, len(questions))
        yield waiting[place].pop()
