"""The losses of PPO and PPO-ptx; all are sums over tokens, so that the parts of a minibatch add up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import torch


class PolicyLoss(NamedTuple):
    """The sum of the clipped loss over tokens, a scalar, and the number of clipped tokens."""

    total: torch.Tensor
    clipped: int


def policy_loss(
    logp: torch.Tensor, logp_before: torch.Tensor, advantages: torch.Tensor, clip: float
) -> PolicyLoss:
    """Return PPO's clipped loss of tokens: −Σ min(ρ A, clip(ρ, 1 ± ε) A), where ρ = π / π_before.

    All arguments have shape (tokens,); `clip` is ε (https://arxiv.org/abs/1707.06347, equation 7).
    """
    import torch

    ratio = (logp - logp_before).exp()
    bounded = ratio.clamp(1 - clip, 1 + clip)
    gains = torch.minimum(ratio * advantages, bounded * advantages)
    return PolicyLoss(-gains.sum(), int((bounded * advantages < ratio * advantages).sum()))


def value_loss(values: torch.Tensor, returns: torch.Tensor) -> torch.Tensor:
    """Return half of the squared distance of the values from the returns, summed over tokens; a scalar."""
    return 0.5 * (values - returns).square().sum()
