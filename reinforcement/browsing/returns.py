"""Advantages where a step is a completion: a baseline per token, bootstrapping per completion.

WebGPT's appendix E says that a timestep is a completion, that value functions and the KL penalty are per
token, and that no bootstrapping is. It prints no formula; this one is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from citewell.reinforcement.returns import advantages_of

if TYPE_CHECKING:
    import torch


class CompletionEstimate(NamedTuple):
    """The advantage and the return of each token of a completion, (T,) each."""

    advantages: torch.Tensor
    returns: torch.Tensor


def estimates_of(
    rewards: Sequence[torch.Tensor], values: Sequence[torch.Tensor], decay: float
) -> list[CompletionEstimate]:
    """Return the estimates of the completions of an episode, in order.

    `rewards` and `values` have an entry per completion, (T,) each; values are estimated before each token.
    With R_k the sum of the rewards of completion k and V_k the value before its first token, Â_k is the
    generalized advantage estimate of the R_k and V_k, and G_k = Â_k + V_k the return of the completion. The
    return of token t is G_k less the rewards of the completion's earlier tokens, and its advantage this
    return less its value.
    """
    import torch

    whole = torch.stack([each.sum() for each in rewards])
    first = torch.stack([each[0] for each in values])
    found = []
    for reward, value, start in zip(rewards, values, advantages_of(whole, first, decay) + first, strict=True):
        returns = start - (reward.cumsum(0) - reward)
        found.append(CompletionEstimate(returns - value, returns))
    return found
