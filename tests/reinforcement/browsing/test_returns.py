"""Advantages of completions, computed by hand and against those of tokens."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

import torch

from citewell.reinforcement.browsing.returns import estimates_of
from citewell.reinforcement.returns import advantages_of

REWARDS = (torch.tensor([0.1, -0.2]), torch.tensor([0.3]), torch.tensor([-0.1, 0.2, 1.0]))
VALUES = (torch.tensor([0.5, 0.4]), torch.tensor([0.2]), torch.tensor([0.1, 0.3, 0.6]))


def test_completions_of_one_token_have_the_advantages_of_tokens() -> None:
    rewards, values = torch.cat(REWARDS), torch.cat(VALUES)
    found = estimates_of(list(rewards.split(1)), list(values.split(1)), 0.95)
    assert torch.allclose(
        torch.cat([each.advantages for each in found]), advantages_of(rewards, values, 0.95)
    )


def test_within_a_completion_nothing_is_bootstrapped() -> None:
    rewards, values = torch.cat(REWARDS), torch.cat(VALUES)
    (found,) = estimates_of([rewards], [values], 0.95)
    assert torch.allclose(found.advantages, advantages_of(rewards, values, 1.0))


def test_two_completions_by_hand() -> None:
    first, second = estimates_of(REWARDS[:2], VALUES[:2], 0.5)
    # R is -.1 and .3, V is .5 and .2: the differences are -.1 + .2 - .5 = -.4, and .3 - .2 = .1.
    whole = -0.4 + 0.5 * 0.1 + 0.5
    assert torch.allclose(first.returns, torch.tensor([whole, whole - 0.1]))
    assert torch.allclose(first.advantages, torch.tensor([whole - 0.5, whole - 0.1 - 0.4]))
    assert torch.allclose(second.returns, torch.tensor([0.3]))


def test_without_decay_chunks_have_the_return_of_the_whole() -> None:
    rewards, values = torch.cat(REWARDS), torch.cat(VALUES)
    chunked = estimates_of(REWARDS, VALUES, 1.0)
    (whole,) = estimates_of([rewards], [values], 1.0)
    assert torch.allclose(torch.cat([each.returns for each in chunked]), whole.returns)
