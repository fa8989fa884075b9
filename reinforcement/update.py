"""One iteration of PPO: steps of the policy and of the value function on rated episodes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from citewell.core.training.checkpoints import check_finite
from citewell.reinforcement.allowed import joined
from citewell.reinforcement.config import PpoSections
from citewell.reinforcement.losses import policy_loss, value_loss
from citewell.reinforcement.networks import POLICY, PolicyNetworks, autocast, collated, parts_of
from citewell.reinforcement.pretraining import PretrainingTexts
from citewell.reinforcement.returns import explained_variance
from citewell.reinforcement.rollout import RatedEpisode

_BETAS = (0.9, 0.95)


class StepMeasures(NamedTuple):
    """Sums over the tokens of a step: the loss, the clipped tokens, the entropy, and all tokens."""

    loss: float
    clipped: int
    entropy: float
    tokens: int


def policy_gradient(
    networks: PolicyNetworks, episodes: Sequence[RatedEpisode], config: PpoSections
) -> StepMeasures:
    """Add the gradient of PPO's loss, the mean over the tokens of a minibatch, part by part."""
    import torch

    rows = [each.rollout.row for each in episodes]
    tokens = sum(len(row.answer) for row in rows)
    total, clipped, entropy = 0.0, 0, 0.0
    for places in parts_of(rows, config.training.part_tokens):
        some = [episodes[place] for place in places]
        with autocast(networks.model.device, config.training.precision):
            lengths = [len(each.rollout.completion) for each in some]
            allowed = joined([each.rollout.allowed for each in some], lengths)
            read = networks.read(collated(rows, places), POLICY, allowed)
        before = torch.cat([each.rollout.logp for each in some])
        advantages = torch.cat([each.advantages for each in some])
        loss = policy_loss(read.logp, before, advantages, config.ppo.clip)
        (loss.total / tokens).backward()  # type: ignore[no-untyped-call]
        total += float(loss.total.detach()) / tokens
        clipped += loss.clipped
        entropy += float(read.entropy.sum())
    return StepMeasures(total, clipped, entropy, tokens)


def value_gradient(networks: PolicyNetworks, episodes: Sequence[RatedEpisode], config: PpoSections) -> float:
    """Add the gradient of the value function's loss, the mean over the tokens; return this mean."""
    import torch

    rows = [each.rollout.row for each in episodes]
    tokens = sum(len(row.answer) for row in rows)
    total = 0.0
    for places in parts_of(rows, config.training.part_tokens):
        some = [episodes[place] for place in places]
        if networks.own_value:
            with autocast(networks.model.device, config.training.precision):
                values = networks.values(collated(rows, places)).float()
        else:
            states = [each.rollout.states for each in some if each.rollout.states is not None]
            values = networks.values_of(torch.cat(states))
        loss = value_loss(values, torch.cat([each.returns for each in some])) / tokens
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    return total


class PpoUpdate:
    """The optimizers of the policy and of the value function."""

    def __init__(self, networks: PolicyNetworks, config: PpoSections, texts: PretrainingTexts | None) -> None:
        """With `texts`, each step of the policy adds the gradient of PPO-ptx."""
        import torch

        self._networks = networks
        self._config = config
        self._texts = texts
        self.policy = torch.optim.AdamW(
            networks.policy_weights, lr=config.ppo.learning_rate, betas=_BETAS, weight_decay=0.0
        )
        self.value = torch.optim.AdamW(
            networks.value_weights, lr=config.value.learning_rate, betas=_BETAS, weight_decay=0.0
        )

    def improve(
        self, episodes: Sequence[RatedEpisode], iteration: int, stepped: Callable[[], None]
    ) -> dict[str, float]:
        """Learn from an iteration's episodes; `stepped` is called after each step of the policy.

        Return the entropy per token, the share of clipped tokens, the variance that the values explained and,
        with PPO-ptx, the texts' loss. Raises `TrainingError` for a loss that is not finite.
        """
        import torch

        config = self._config
        found = {
            "value_explained": explained_variance(
                torch.cat([each.rollout.values for each in episodes]),
                torch.cat([each.returns for each in episodes]),
            )
        }
        for group in self.policy.param_groups:
            group["lr"] = config.ppo.rate(iteration)
        learns = iteration >= config.value.warmup
        steps, ptx = [], []
        for number, some in enumerate(self._minibatches(episodes, iteration, config.ppo.inner_epochs)):
            if not learns:
                break
            self.policy.zero_grad()
            steps.append(policy_gradient(self._networks, some, config))
            if self._texts is not None:
                ptx.append(self._pretrained(len(some), f"{iteration} {number}"))
            self._step(self.policy, steps[-1].loss + sum(ptx[-1:]), iteration)
            stepped()
        for some in self._minibatches(episodes, iteration, config.value.epochs):
            self.value.zero_grad()
            self._step(self.value, value_gradient(self._networks, some, config), iteration)
        if steps:
            tokens = sum(step.tokens for step in steps)
            found["entropy"] = sum(step.entropy for step in steps) / tokens
            found["clipped"] = sum(step.clipped for step in steps) / tokens
        if ptx:
            found["ptx_loss"] = sum(ptx) / len(ptx)
        return found

    def _pretrained(self, answers: int, when: str) -> float:
        assert self._texts is not None
        training = self._config.training
        with autocast(self._networks.model.device, training.precision):
            return self._texts.backward(self._networks, self._texts.draw(answers, when), training.part_tokens)

    def _minibatches(
        self, episodes: Sequence[RatedEpisode], iteration: int, epochs: int
    ) -> Iterator[list[RatedEpisode]]:
        chance = random.Random(f"{self._config.training.seed} {iteration} minibatches")  # noqa: S311
        size = self._config.ppo.minibatch
        for _ in range(epochs):
            order = chance.sample(range(len(episodes)), len(episodes))
            for start in range(0, len(order), size):
                yield [episodes[place] for place in order[start : start + size]]

    def _step(self, optimizer: Any, loss: float, iteration: int) -> None:
        from torch.nn.utils import clip_grad_norm_

        check_finite(
            loss,
            f"The loss of iteration {iteration + 1}",
            "Lower ppo.learning_rate or value.learning_rate; earlier checkpoints are kept.",
        )
        weights = [value for group in optimizer.param_groups for value in group["params"]]
        clip_grad_norm_(weights, self._config.training.clip)
        optimizer.step()
