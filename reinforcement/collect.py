"""Episodes of the current policy: drawn, read again by every network, and rewarded."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from citewell.generator.training.encode import TokenizedExample
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.answers import QuestionStream
from citewell.reinforcement.config import AnswersRecipe, PpoSections
from citewell.reinforcement.networks import PolicyNetworks
from citewell.reinforcement.reading import draw, read_rows
from citewell.reinforcement.returns import advantages_of, token_rewards
from citewell.reinforcement.reward import CenteredReward
from citewell.reinforcement.rollout import (
    Gathered,
    PromptedQuestion,
    RatedEpisode,
    Rollout,
    with_normalized,
)
from citewell.reinforcement.sampler import Sampler, TorchSampler


class EpisodeCollector:
    """Writes and rates answers with the weights as they are."""

    def __init__(
        self,
        networks: PolicyNetworks,
        reward: CenteredReward,
        config: AnswersRecipe,
        sampler: Sampler | None = None,
    ) -> None:
        """`sampler` is by default the policy itself, in this process."""
        self._networks = networks
        self._reward = reward
        self._config = config
        self._sampler = sampler or TorchSampler(
            networks.model,
            stop_tokens(networks.model.get_base_model(), networks.tokenizer),
            config.prompt.answer_tokens,
        )

    def collect(self, asked: Sequence[PromptedQuestion], seed: int) -> list[Rollout]:
        """Return an episode per question, in their order.

        The log-probabilities are those of a pass over the whole text, as training computes them, and not the
        sampler's, whose rounding differs.
        """
        networks = self._networks
        written = draw(self._sampler, networks, [each.prompt for each in asked], seed, self._config.training)
        rows = [
            TokenizedExample(each.prompt, completion.tokens)
            for each, completion in zip(asked, written, strict=True)
        ]
        read = read_rows(networks, rows, [None] * len(rows), self._config.training)
        found = []
        for each, row, completion, tokens in zip(asked, rows, written, read, strict=True):
            text = networks.tokenizer.decode(row.answer, skip_special_tokens=True)
            rated = self._reward.rate(each, text, ended=completion.ended)
            found.append(
                Rollout(
                    asked=each,
                    completion=row.answer,
                    text=text,
                    score=rated.score,
                    parts=rated.parts,
                    logp=tokens.logp,
                    logp_reference=tokens.logp_reference,
                    values=tokens.values,
                    states=tokens.states,
                )
            )
        return found


class AnswersExperience:
    """The questions of a recipe, and the answers to them."""

    def __init__(self, questions: QuestionStream, collector: EpisodeCollector, config: AnswersRecipe) -> None:
        self._questions = questions
        self._collector = collector
        self._config = config

    def gather(self, iteration: int, seed: int) -> Gathered:
        """Return an answer to each question of an iteration."""
        asked = self._questions.draw(iteration, self._config.ppo.batch)
        rollouts = self._collector.collect(asked, seed)
        tokens = sum(len(each.completion) + len(each.asked.prompt) for each in rollouts)
        return Gathered(rate_episodes(rollouts, self._config), summary(rollouts), tokens)

    def measure(self, seed: int) -> dict[str, float]:
        """Return the means over an answer to each dev question."""
        return summary(self._collector.collect(self._questions.dev, seed))


def rate_episodes(rollouts: Sequence[Rollout], config: PpoSections) -> list[RatedEpisode]:
    """Return episodes with advantages, which are normalized over all of their tokens."""
    found = []
    for each in rollouts:
        rewards = token_rewards(each.logp, each.logp_reference, each.score, config.ppo.beta)
        advantages = advantages_of(rewards, each.values, config.ppo.gae_lambda)
        found.append(RatedEpisode(each, advantages, advantages + each.values))
    return with_normalized(found)


def summary(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the means over answers: `score`, `kl` in nats, and the parts of the reward by name."""
    return {
        "score": statistics.fmean(each.score for each in rollouts),
        "kl": statistics.fmean(each.kl for each in rollouts),
        **{name: statistics.fmean(each.parts[name] for each in rollouts) for name in rollouts[0].parts},
    }
