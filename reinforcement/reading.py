"""Drawing completions with the current weights, and reading them again by every network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from citewell.generator.training.encode import TokenizedExample
from citewell.reinforcement.allowed import joined
from citewell.reinforcement.config import AnswersTrainingConfig
from citewell.reinforcement.networks import (
    POLICY,
    REFERENCE,
    PolicyNetworks,
    autocast,
    collated,
    parts_of,
)
from citewell.reinforcement.sampler import DrawnAnswer, Sampler

if TYPE_CHECKING:
    import torch


class ReadCompletion(NamedTuple):
    """The fields of a `Rollout` that networks compute, (T,) and (T, size)."""

    logp: torch.Tensor
    logp_reference: torch.Tensor
    values: torch.Tensor
    states: torch.Tensor | None


def draw(
    sampler: Sampler,
    networks: PolicyNetworks,
    prompts: Sequence[Sequence[int]],
    seed: int,
    training: AnswersTrainingConfig,
    grammars: Sequence[str] = (),
) -> list[DrawnAnswer]:
    """Return the policy's continuation of each prompt, held to its grammar if there are grammars."""
    import torch

    with torch.no_grad(), autocast(networks.model.device, training.precision):
        networks.use(POLICY)
        return sampler.sample(prompts, seed, grammars)


def read_rows(
    networks: PolicyNetworks,
    rows: Sequence[TokenizedExample],
    allowed: Sequence[torch.Tensor | None],
    training: AnswersTrainingConfig,
) -> list[ReadCompletion]:
    """Return what the networks say of each row's answer; `allowed` are the bits of what a grammar allowed.

    The log-probabilities are those of a pass over the whole text, as training computes them, and not the
    sampler's, whose rounding differs.
    """
    import torch

    found: dict[int, ReadCompletion] = {}
    with torch.no_grad(), autocast(networks.model.device, training.precision):
        for places in parts_of(rows, training.part_tokens):
            part = collated(rows, places)
            lengths = [len(rows[place].answer) for place in places]
            bits = joined([allowed[place] for place in places], lengths)
            policy, reference = (networks.read(part, name, bits) for name in (POLICY, REFERENCE))
            values = networks.values(part) if networks.own_value else networks.values_of(reference.states)
            pieces = zip(
                places,
                *(
                    torch.split(each.float(), lengths)
                    for each in (policy.logp, reference.logp, values, reference.states)
                ),
                strict=True,
            )
            for place, logp, logp_reference, value, states in pieces:
                kept = None if networks.own_value else states
                found[place] = ReadCompletion(logp, logp_reference, value, kept)
    return [found[place] for place in range(len(rows))]
