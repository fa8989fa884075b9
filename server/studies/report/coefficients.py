"""Coefficients of the agreement of raters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations, permutations


def krippendorff_alpha(units: Collection[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha for ordinal scores: 1 is perfect agreement, 0 is chance level.

    `units` are the scores of each unit; units with fewer than two are ignored. None if alpha is undefined: no
    unit has two scores, or all scores are equal. Source: Klaus
    Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011
    (https://repository.upenn.edu/handle/20.500.14332/2089).
    """
    weighted: dict[tuple[float, float], float] = {}
    for scores in units:
        for pair in permutations(scores, 2):
            weighted[pair] = weighted.get(pair, 0.0) + 1 / (len(scores) - 1)
    totals: dict[float, float] = {}
    for (score, _), weight in weighted.items():
        totals[score] = totals.get(score, 0.0) + weight
    if len(totals) < 2:
        return None
    distances = {(first, second): _distance(first, second, totals) for first in totals for second in totals}
    observed = sum(weight * distances[pair] for pair, weight in weighted.items())
    expected = sum(totals[first] * totals[second] * distances[first, second] for first, second in distances)
    return 1 - (sum(totals.values()) - 1) * observed / expected


def preference_agreement(units: Collection[Sequence[float]]) -> float | None:
    """Return how often two raters of the same pair prefer the same answer; None without two raters.

    `units` are the preferences of each pair: .5 is neutral, below and above are the two answers. As in
    WebGPT (appendix C, https://arxiv.org/abs/2112.09332), a neutral and another preference agree by one half.
    """
    agreed = [_agreed(*pair) for values in units for pair in combinations(values, 2)]
    return sum(agreed) / len(agreed) if agreed else None


def _agreed(first: float, second: float) -> float:
    if first == second:
        return 1.0
    return 0.5 if 0.5 in (first, second) else 0.0


def _distance(first: float, second: float, totals: dict[float, float]) -> float:
    """Return the squared number of scores between two levels, half of their own included."""
    low, high = sorted((first, second))
    between = sum(total for score, total in totals.items() if low <= score <= high)
    return (between - (totals[low] + totals[high]) / 2) ** 2
