"""Measures of how well scores predict people's preferences, and of the effect of length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.text import words
from citewell.scorer.data.types import Comparison

MATCHED = 0.1
"""Maximum difference in length of length-matched pairs, as a share of the longer answer."""


class ScoredPairs(NamedTuple):
    """Pairs of answers: logits of preferring the first, people's preferences (0 to 1), and words.

    All are arrays of length n.
    """

    logits: NDArray[np.float64]
    preferences: NDArray[np.float64]
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def where(self, chosen: NDArray[np.bool_]) -> ScoredPairs:
        """Return the pairs that the mask (n,) selects."""
        return ScoredPairs(*(values[chosen] for values in self))


def scored(comparisons: Sequence[Comparison], logits: Sequence[float]) -> ScoredPairs:
    """Return the comparisons with the logits of a scorer."""
    return ScoredPairs(
        np.array(logits, dtype=float),
        np.array([each.preference for each in comparisons]),
        np.array([len(words(each.first)) for each in comparisons], dtype=float),
        np.array([len(words(each.second)) for each in comparisons], dtype=float),
    )


def measure(pairs: ScoredPairs) -> dict[str, float]:
    """Return all measures by name, without those that no pair counts for.

    `accuracy`: the share of pairs, except ties, whose preferred answer has the higher score; equal scores
    count half. `length_matched`: the same over pairs of about the same length. `longer_wins`: how often the
    longer answer is preferred, which a scorer must beat. `length_correlation`: correlation of the differences
    in score with the differences in the logarithm of length, -1 to 1. `pair_loss`: cross-entropy of the
    preferences, with ties.
    """
    decided = pairs.where(pairs.preferences != 0.5)
    longer = np.maximum(decided.first, decided.second)
    matched = decided.where(np.abs(decided.first - decided.second) <= MATCHED * longer)
    uneven = decided.where(decided.first != decided.second)
    found = {
        "accuracy": _accuracy(decided.logits, decided.preferences),
        "length_matched": _accuracy(matched.logits, matched.preferences),
        "longer_wins": _accuracy(uneven.first - uneven.second, uneven.preferences),
        "length_correlation": _correlation(pairs),
        "pair_loss": pair_loss(pairs.logits, pairs.preferences),
    }
    return {name: value for name, value in found.items() if value is not None}


def pair_loss(logits: NDArray[np.float64], preferences: NDArray[np.float64]) -> float | None:
    """Return the mean cross-entropy of preferences with these logits; None if there are none."""
    if not len(logits):
        return None
    return float(np.mean(np.logaddexp(0, logits) - preferences * logits))


def best_scale(logits: NDArray[np.float64], preferences: NDArray[np.float64]) -> float:
    """Return the factor of the logits (.01 to 10) that minimizes the loss.

    If all pairs are right, no factor is large enough, hence the bound. The loss is convex in the factor, so
    golden-section search finds the minimum.
    """
    if not len(logits):
        return 1.0

    def loss(exponent: float) -> float:
        return pair_loss(logits * 10.0**exponent, preferences) or 0.0

    return float(10.0 ** _lowest(loss, -2.0, 1.0))


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    golden = (5**0.5 - 1) / 2
    while high - low > 1e-3:
        left, right = high - golden * (high - low), low + golden * (high - low)
        if function(left) <= function(right):
            high = right
        else:
            low = left
    return (low + high) / 2


def _accuracy(logits: NDArray[np.float64], preferences: NDArray[np.float64]) -> float | None:
    if not len(logits):
        return None
    right = np.sign(logits) * np.sign(preferences - 0.5)
    return float(np.mean((right + 1) / 2))


def _correlation(pairs: ScoredPairs) -> float | None:
    lengths = np.log1p(pairs.first) - np.log1p(pairs.second)
    scale = float(np.sqrt(np.sum(pairs.logits**2) * np.sum(lengths**2)))
    return float(np.sum(pairs.logits * lengths)) / scale if scale else None
