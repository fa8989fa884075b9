"""From scores to advantages, computed by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the extra `train` is not installed")

import torch

from citewell.reinforcement.returns import advantages_of, explained_variance, normalized, token_rewards


def test_with_lambda_1_it_is_the_reward_to_go_less_the_value() -> None:
    rewards, values = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([0.3, 0.1, -0.2])
    expected = torch.tensor([1.5 - 0.3, 1.0 - 0.1, 2.0 + 0.2])
    assert torch.allclose(advantages_of(rewards, values, 1.0), expected)


def test_three_tokens_by_hand() -> None:
    rewards, values = torch.tensor([0.0, 0.0, 1.0]), torch.tensor([0.2, 0.4, 0.5])
    # The differences are .2, .1 and .5.
    third, second = 0.5, 0.1 + 0.95 * 0.5
    expected = torch.tensor([0.2 + 0.95 * second, second, third])
    assert torch.allclose(advantages_of(rewards, values, 0.95), expected)


def test_the_penalty_is_0_where_nothing_changed_and_sums_to_that_of_the_answer() -> None:
    now, before = torch.tensor([-1.0, -2.0, -0.5]), torch.tensor([-1.5, -1.0, -0.75])
    assert token_rewards(now, now, 0.0, 0.02).tolist() == [0.0, 0.0, 0.0]
    assert float(token_rewards(now, before, 0.0, 0.02).sum()) == pytest.approx(
        -0.02 * float(now.sum() - before.sum())
    )
    assert token_rewards(now, now, 3.0, 0.02).tolist() == [0.0, 0.0, 3.0]


def test_normalized_advantages() -> None:
    found = normalized(torch.tensor([1.0, 2.0, 6.0]))
    assert float(found.mean()) == pytest.approx(0, abs=1e-6)
    assert float(found.std(correction=0)) == pytest.approx(1, abs=1e-6)
    assert normalized(torch.full((3,), 2.0)).tolist() == [0.0, 0.0, 0.0]


def test_explained_variance() -> None:
    returns = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(returns, returns) == 1
    assert explained_variance(torch.ones(3), returns) == pytest.approx(0)
    assert explained_variance(returns, torch.ones(3)) == 0
