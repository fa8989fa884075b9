"""The estimator equals what a count of all subsets gives, and finds where over-optimization starts."""

from __future__ import annotations

import itertools
import random
from statistics import mean

import numpy as np
import pytest

from citewell.scorer.estimator import best_of, curve, weights, win_rate

ORDER = [0.3, -1.0, 2.0, 0.9, 0.1, 1.4]
VALUES = [0.5, 0.2, -0.3, 0.8, 0.0, 0.4]
EVERY = range(len(ORDER))


@pytest.mark.parametrize("n", range(1, 7))
def test_it_is_the_mean_over_all_subsets(n: int) -> None:
    subsets = list(itertools.combinations(EVERY, n))
    expected = mean(VALUES[max(subset, key=lambda i: ORDER[i])] for subset in subsets)
    assert best_of(ORDER, VALUES, n) == pytest.approx(expected)


@pytest.mark.parametrize("n", range(1, 6))
def test_the_win_rate_is_the_mean_over_all_subsets_and_another_sample(n: int) -> None:
    wins = [
        float(VALUES[max(subset, key=lambda i: ORDER[i])] > VALUES[other])
        for subset in itertools.combinations(EVERY, n)
        for other in EVERY
        if other not in subset
    ]
    assert win_rate(ORDER, VALUES, n) == pytest.approx(mean(wins))


def test_ties_in_the_order_are_drawn() -> None:
    order, values = [1.0, 1.0, 0.0], [0.0, 1.0, 0.5]
    assert best_of(order, values, 3) == pytest.approx(0.5)
    # Pairs: the two equal ones, or one of them with the third.
    assert best_of(order, values, 2) == pytest.approx(mean([0.5, 0.0, 1.0]))
    swapped = [1.0, 0.0, 0.5]
    assert win_rate(order, values, 2) == pytest.approx(win_rate(order, swapped, 2))
    assert win_rate([1.0] * 4, [3.0, 2.0, 1.0, 0.0], 2) == pytest.approx(0.5)


def test_one_sample_is_the_mean_and_all_are_the_best() -> None:
    assert best_of(ORDER, VALUES, 1) == pytest.approx(mean(VALUES))
    assert best_of(ORDER, VALUES, 6) == VALUES[2]
    assert win_rate(ORDER, VALUES, 1) == pytest.approx(0.5)


@pytest.mark.parametrize("total", [1, 16, 64, 300])
def test_weights_are_exact_and_sum_to_one(total: int) -> None:
    for n in {1, max(1, total // 2), total}:
        assert weights(total, n).sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [0, 7])
def test_an_n_without_enough_samples_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="6 samples"):
        best_of(ORDER, VALUES, n)
    with pytest.raises(ValueError, match="6 samples"):
        win_rate(ORDER, VALUES, 6)


def samples(questions: int, total: int) -> dict[str, list[float]]:
    draw = random.Random(3)
    return {str(q): [draw.gauss(0, 1) for _ in range(total)] for q in range(questions)}


def test_where_both_scorers_agree_more_is_better() -> None:
    found = curve(order := samples(40, 16), order)
    judged = [point.judged_by for point in found.points]
    assert judged == sorted(judged)
    assert judged == pytest.approx([point.chosen_by for point in found.points])
    assert (found.peak, found.decline, found.over_optimized, found.warning) == (16, None, False, "")
    assert all(point.low <= point.judged_by <= point.high for point in found.points)


def test_over_optimization_is_told_where_the_judge_turns_away() -> None:
    order = samples(60, 16)
    # What is liked up to a point and disliked beyond, as by a scorer that is exploited.
    values = {key: [s - 1.2 * max(0.0, s - 0.7) ** 2 for s in of] for key, of in order.items()}
    found = curve(order, values)
    assert 1 < found.peak < 16
    assert found.over_optimized
    assert f"starts after n = {found.peak}" in found.warning


def test_a_decline_that_may_be_chance_is_no_warning() -> None:
    draw = random.Random(5)
    order = samples(20, 8)
    values = {key: [draw.gauss(0, 1) for _ in of] for key, of in order.items()}
    found = curve(order, values)
    assert not found.over_optimized
    assert found.warning == ""


def test_only_some_n_are_computed_on_request() -> None:
    order = samples(5, 8)
    assert [point.n for point in curve(order, order, [1, 4, 8]).points] == [1, 4, 8]
    with pytest.raises(ValueError, match="no questions"):
        curve({}, {})
    assert np.isfinite(curve(order, order, [1]).points[0].low)
