"""The measures of WebGLM's Tables 7 and 9, on orders whose values can be told by hand."""

from __future__ import annotations

import itertools
from statistics import mean

import numpy as np
import pytest

from citewell.core.ranking_metrics import N_NDCG, NDCG, PAIRS, SPEARMAN, has_order, measure_order

LABELS = [0.8, 0.6, 0.3, 0.2, 0.1]


def test_the_ideal_and_the_worst_order() -> None:
    assert measure_order(LABELS, [5, 4, 3, 2, 1]) == pytest.approx(
        {PAIRS: 1, SPEARMAN: 1, NDCG: 1, N_NDCG: 1}
    )
    worst = measure_order(LABELS, [1, 2, 3, 4, 5])
    assert worst[PAIRS] == worst[N_NDCG] == 0
    assert worst[SPEARMAN] == pytest.approx(-1)
    assert 0 < worst[NDCG] < 1


def test_values_worked_out_by_hand() -> None:
    found = measure_order([1.0, 0.5, 0.0], [2, 3, 1])
    discounts = [1, 1 / np.log2(3), 0.5]
    ideal, mine = 1 + 0.5 * discounts[1], 0.5 + discounts[1]
    worst = 0.5 * discounts[1] + 0.5
    assert found[PAIRS] == pytest.approx(2 / 3)
    assert found[SPEARMAN] == pytest.approx(0.5)
    assert found[NDCG] == pytest.approx(mine / ideal)
    assert found[N_NDCG] == pytest.approx((mine - worst) / (ideal - worst))


def test_equal_labels_are_no_pair_and_share_their_rank() -> None:
    found = measure_order([0.5, 0.5, 0.1], [1, 2, 0])
    assert found[PAIRS] == found[NDCG] == found[N_NDCG] == pytest.approx(1)
    assert found[SPEARMAN] == pytest.approx(np.corrcoef([2.5, 2.5, 1], [2, 3, 1])[0, 1])
    assert not has_order([0.5, 0.5])
    assert not has_order([])
    assert has_order([0.5, 0.4])


def test_equal_scores_count_as_the_mean_over_the_orders_they_could_stand_in() -> None:
    scores = [1.0, 0.0, 1.0, 0.0, 1.0]
    found = measure_order(LABELS, scores)
    top, rest = [0, 2, 4], [1, 3]
    orders = [
        [*first, *second] for first in itertools.permutations(top) for second in itertools.permutations(rest)
    ]
    each = [measure_order(LABELS, [-order.index(row) for row in range(5)]) for order in orders]
    for name in (PAIRS, NDCG, N_NDCG):
        assert found[name] == pytest.approx(mean(one[name] for one in each)), name
    same = measure_order(LABELS, [0.0] * 5)
    assert same[PAIRS] == 0.5
    assert same[SPEARMAN] == 0


def test_spearman_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    generator = np.random.default_rng(1)
    for _ in range(50):
        labels, scores = generator.integers(0, 4, 6) / 4, generator.integers(0, 4, 6)
        if has_order(list(labels)) and has_order(list(scores)):
            expected = stats.spearmanr(labels, scores).statistic
            assert measure_order(list(labels), list(scores))[SPEARMAN] == pytest.approx(expected)


def test_ndcg_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    generator = np.random.default_rng(2)
    for _ in range(50):
        labels, scores = generator.random(5), generator.integers(0, 4, 5)
        expected = metrics.ndcg_score([labels], [scores])
        assert measure_order(list(labels), list(scores))[NDCG] == pytest.approx(expected)


def test_the_numbers_of_table_7_are_those_of_this_normalization() -> None:
    """Each of WebGLM's four pairs of NDCG and N-NDCG gives the same NDCG of the worst order, 67.6."""
    published = [(82.54, 46.05), (76.28, 26.77), (81.16, 41.75), (91.99, 75.29)]
    worst = [(found - normalized) / (1 - normalized / 100) for found, normalized in published]
    assert max(worst) - min(worst) < 0.1
    assert mean(worst) == pytest.approx(67.6, abs=0.05)
