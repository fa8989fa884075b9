"""Episodes of the current policy: drawn, read again by every network, and rewarded."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from citewell.generator.training.encode import TokenizedExample
from citewell.generator.transformers import stop_tokens
from citewell.reinforcement.config import AnswersRecipe
from citewell.reinforcement.networks import (
    POLICY,
    REFERENCE,
    PolicyNetworks,
    autocast,
    collated,
    parts_of,
)
from citewell.reinforcement.reward import CenteredReward
from citewell.reinforcement.rollout import PromptedQuestion, Rollout
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
        import torch

        networks, training = self._networks, self._config.training
        with torch.no_grad(), autocast(networks.model.device, training.precision):
            networks.use(POLICY)
            written = self._sampler.sample([each.prompt for each in asked], seed)
            rows = [
                TokenizedExample(each.prompt, completion.tokens)
                for each, completion in zip(asked, written, strict=True)
            ]
            found: dict[int, Rollout] = {}
            for places in parts_of(rows, training.part_tokens):
                part = collated(rows, places)
                policy, reference = networks.read(part, POLICY), networks.read(part, REFERENCE)
                values = networks.values(part) if networks.own_value else networks.values_of(reference.states)
                lengths = [len(rows[place].answer) for place in places]
                pieces = zip(
                    places,
                    *(
                        torch.split(each.float(), lengths)
                        for each in (policy.logp, reference.logp, values, reference.states)
                    ),
                    strict=True,
                )
                for place, logp, logp_reference, value, states in pieces:
                    text = networks.tokenizer.decode(rows[place].answer, skip_special_tokens=True)
                    rated = self._reward.rate(asked[place], text, ended=written[place].ended)
                    found[place] = Rollout(
                        asked=asked[place],
                        completion=rows[place].answer,
                        text=text,
                        score=rated.score,
                        parts=rated.parts,
                        logp=logp,
                        logp_reference=logp_reference,
                        values=value,
                        states=None if networks.own_value else states,
                    )
        return [found[place] for place in range(len(asked))]


def summary(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the means over answers: `score`, `kl` in nats, and the parts of the reward by name."""
    return {
        "score": statistics.fmean(each.score for each in rollouts),
        "kl": statistics.fmean(each.kl for each in rollouts),
        **{name: statistics.fmean(each.parts[name] for each in rollouts) for name in rollouts[0].parts},
    }
