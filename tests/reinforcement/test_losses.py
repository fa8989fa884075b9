"""The clipped loss and its gradients."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

import torch

from citewell.reinforcement.losses import policy_loss, value_loss


def test_on_the_policy_that_wrote_it_is_reinforce() -> None:
    before = torch.tensor([-1.0, -0.3, -2.0], dtype=torch.float64)
    advantages = torch.tensor([0.7, -1.1, 0.2], dtype=torch.float64)
    logp = before.clone().requires_grad_()
    policy_loss(logp, before, advantages, 0.2).total.backward()
    reinforce = before.clone().requires_grad_()
    (-(reinforce * advantages).sum()).backward()
    assert torch.allclose(logp.grad, reinforce.grad, atol=1e-6)


@pytest.mark.parametrize(
    ("ratio", "advantage", "moves"),
    [(1.3, 1.0, False), (0.7, -1.0, False), (1.3, -1.0, True), (0.7, 1.0, True), (1.1, 1.0, True)],
)
def test_beyond_the_clip_only_the_way_back_has_a_gradient(
    ratio: float, advantage: float, moves: bool
) -> None:
    logp = torch.tensor([ratio]).log().requires_grad_()
    loss = policy_loss(logp, torch.zeros(1), torch.tensor([advantage]), 0.2)
    loss.total.backward()
    assert bool(logp.grad.abs() > 0) == moves
    assert loss.clipped == (not moves)


def test_the_value_moves_to_the_return() -> None:
    values = torch.tensor([1.0, 0.0], requires_grad=True)
    value_loss(values, torch.tensor([3.0, 0.0])).backward()
    assert values.grad.tolist() == [-2.0, 0.0]
