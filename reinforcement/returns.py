"""From a score to the advantage of each token: the penalty of the KL divergence, and GAE.

An episode is one answer of `T` tokens to one question, a bandit (InstructGPT §3.5). Its tokens have rewards,
values and advantages of shape (T,).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def token_rewards(
    logp: torch.Tensor, logp_reference: torch.Tensor, score: float, beta: float
) -> torch.Tensor:
    """Return the reward of each token: −β (log π − log π_SFT), and the score at the last one.

    `logp` and `logp_reference` are the tokens' log-probabilities under the policy that wrote them and under
    the one that training started from (InstructGPT §3.5, equation 2, as a penalty per token).
    """
    rewards = -beta * (logp - logp_reference)
    rewards[-1] += score
    return rewards


def advantages_of(rewards: torch.Tensor, values: torch.Tensor, decay: float) -> torch.Tensor:
    """Return the generalized advantage estimates of an episode without a discount.

    δ_t = r_t + V_{t+1} − V_t with V_{T+1} = 0, and A_t = Σ_l λ^l δ_{t+l}, where `decay` is λ
    (https://arxiv.org/abs/1506.02438, γ = 1). `values` are estimated before each token is chosen.
    """
    import torch

    after = torch.cat([values[1:], values.new_zeros(1)])
    deltas = rewards + after - values
    found = torch.empty_like(deltas)
    sum_of_later = deltas.new_zeros(())
    for place in range(len(deltas) - 1, -1, -1):
        sum_of_later = deltas[place] + decay * sum_of_later
        found[place] = sum_of_later
    return found


def normalized(advantages: torch.Tensor) -> torch.Tensor:
    """Return advantages with mean 0 and deviation 1 over all tokens (WebGPT, Table 7)."""
    return (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)


def explained_variance(values: torch.Tensor, returns: torch.Tensor) -> float:
    """Return the share of the returns' variance that the values explain: 1 is all, 0 that of a constant."""
    whole = float(returns.var(correction=0))
    return 1 - float((returns - values).var(correction=0)) / whole if whole > 0 else 0.0
