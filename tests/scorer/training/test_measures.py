"""What is measured of scores, on values that can be checked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from citewell.scorer.data.types import Comparison
from citewell.scorer.training.measures import best_scale, measure, pair_loss, scored


def pair(first: int, second: int, preference: float) -> Comparison:
    """Answers of so many words."""
    return Comparison("q", "a " * first, "b " * second, preference, group="g", source="s")


def test_accuracy_leaves_ties_out_and_counts_equal_scores_half() -> None:
    comparisons = [pair(5, 5, 1.0), pair(5, 5, 0.0), pair(5, 5, 1.0), pair(5, 5, 0.5)]
    found = measure(scored(comparisons, [2.0, 1.0, 0.0, 9.0]))
    assert found["accuracy"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert "longer_wins" not in found


def test_length_is_told_apart_from_quality() -> None:
    comparisons = [pair(100, 10, 1.0), pair(10, 100, 0.0), pair(10, 100, 1.0), pair(20, 19, 1.0)]
    found = measure(scored(comparisons, [1.0, -1.0, -1.0, -1.0]))
    assert found["longer_wins"] == pytest.approx(3 / 4)
    assert found["length_matched"] == 0.0
    assert found["length_correlation"] > 0.8


def test_turning_a_pair_round_changes_nothing() -> None:
    one = measure(scored([pair(9, 3, 1.0), pair(4, 5, 0.5)], [0.7, -0.2]))
    other = measure(scored([pair(3, 9, 0.0), pair(5, 4, 0.5)], [-0.7, 0.2]))
    assert one == pytest.approx(other)


def test_the_loss_is_the_cross_entropy_of_soft_labels() -> None:
    assert pair_loss(np.array([0.0]), np.array([0.5])) == pytest.approx(math.log(2))
    expected = -math.log(1 / (1 + math.exp(-2)))
    assert pair_loss(np.array([2.0]), np.array([1.0])) == pytest.approx(expected)
    assert pair_loss(np.array([]), np.array([])) is None


def test_the_scale_makes_logits_as_sure_as_they_are_right() -> None:
    chance = np.random.default_rng(0)
    logits = chance.normal(size=4000)
    preferences = (chance.random(4000) < 1 / (1 + np.exp(-2 * logits))).astype(float)
    assert best_scale(logits, preferences) == pytest.approx(2, rel=0.1)
    assert best_scale(logits, (logits > 0).astype(float)) == pytest.approx(10, rel=0.01)
    assert best_scale(np.array([]), np.array([])) == 1.0
