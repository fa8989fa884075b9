"""Differences that are there are found, others are not, and the same data gives the same numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from citewell.core.significance import compare, compare_all, interval


def values(numbers: list[float]) -> dict[str, float]:
    return {f"q{number}": value for number, value in enumerate(numbers)}


def test_a_difference_that_is_there() -> None:
    generator = np.random.default_rng(0)
    base = generator.random(100)
    found = compare(values(list(base + generator.normal(0.1, 0.1, 100))), values(list(base)))
    assert found.difference == pytest.approx(0.1, abs=0.03)
    assert 0.05 < found.low < found.difference < found.high < 0.15
    assert found.p < 0.001
    assert found.better + found.worse == found.queries == 100
    assert found.better > 70


def test_no_difference_and_the_same_values() -> None:
    generator = np.random.default_rng(0)
    base, other = generator.random(100), generator.random(100)
    assert compare(values(list(other)), values(list(base))).p > 0.05
    same = compare(values(list(base)), values(list(base)))
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)


def test_p_is_near_that_of_all_exchanges() -> None:
    differences = [0.3, 0.1, 0.2, -0.1, 0.4, 0.05, 0.0, 0.2]
    means = [abs(np.dot(signs, differences)) for signs in itertools.product((1, -1), repeat=8)]
    exact = float(np.mean(np.array(means) >= sum(differences) - 1e-9))
    found = compare(values(differences), values([0.0] * 8))
    assert found.p == pytest.approx(exact, abs=0.01)
    assert found == compare(values(differences), values([0.0] * 8)), "the same numbers again"


def test_the_order_of_queries_plays_no_part() -> None:
    base, other = values([0.1, 0.5, 0.9]), values([0.2, 0.7, 0.8])
    assert compare(dict(reversed(other.items())), base) == compare(other, base)


def test_p_is_corrected_for_the_number_of_systems() -> None:
    generator = np.random.default_rng(3)
    base = values(list(generator.random(40)))
    systems = {
        name: {query: value + generator.normal(shift, 0.1) for query, value in base.items()}
        for name, shift in (("good", 0.2), ("fair", 0.03), ("same", 0.0))
    }
    found = compare_all(systems, base)
    assert list(found) == list(systems)
    ordered = sorted(found.values(), key=lambda comparison: comparison.p)
    assert ordered[0].p_holm == pytest.approx(3 * ordered[0].p)
    assert ordered[1].p_holm == pytest.approx(max(ordered[0].p_holm, min(1, 2 * ordered[1].p)))
    assert ordered[2].p_holm >= max(ordered[1].p_holm, ordered[2].p)


def test_an_interval_holds_the_mean() -> None:
    numbers = np.random.default_rng(4).random(200)
    low, high = interval(values(list(numbers)))
    assert low < numbers.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * numbers.std() / np.sqrt(200), rel=0.1)
