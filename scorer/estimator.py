"""How good best of n is for every n, estimated from N samples a question (WebGPT, appendix I).

Of all subsets of n of the N samples, the one that a scorer ranks highest is judged by another scorer. With
the samples in the scorer's order, S_1 to S_N, sample i is the best of C(i - 1, n - 1) of C(N, n) subsets, so
that the mean over all subsets is a weighted sum: unbiased for each n up to N, from the same samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from citewell.core.significance import PairedComparison, compare, interval

Matrix = NDArray[np.float64]


def weights(total: int, n: int) -> Matrix:
    """How often each of `total` samples, the worst first, is the best of `n`; (total,), with the sum 1.

    Raises `ValueError` where `n` is not from 1 to `total`.
    """
    if not 1 <= n <= total:
        raise ValueError(f"n is {n}, and there are {total} samples")
    subsets = comb(total, n)
    # The quotients are of exact integers: C(64, 32) has 19 digits.
    return np.array([comb(place, n - 1) / subsets for place in range(total)])


def best_of(order: ArrayLike, values: ArrayLike, n: int) -> float:
    """The expected value of the best of `n` samples of one question.

    `order` is what the samples are chosen by, `values` what they are judged by, both (N,). Samples of equal
    order share the mean of their values, as if one of them were drawn.
    """
    chosen, judged = np.asarray(order, np.float64), np.asarray(values, np.float64)
    return float(weights(len(chosen), n) @ _shared(chosen, judged)[np.argsort(chosen, kind="stable")])


def win_rate(order: ArrayLike, values: ArrayLike, n: int) -> float:
    """How often the best of `n` samples is judged better than one more sample, 0 to 1; a tie counts as half.

    The mean over all choices of n of the N samples and of another one, unbiased for the same reason. Raises
    `ValueError` where `n` is not less than N.
    """
    chosen, judged = np.asarray(order, np.float64), np.asarray(values, np.float64)
    total = len(chosen)
    if not 1 <= n < total:
        raise ValueError(f"n is {n}, and there are {total} samples, of which one is to compare with")
    places = np.argsort(chosen, kind="stable")
    wins = (np.sign(judged[places, None] - judged[None, places]) + 1) / 2
    same = chosen[places, None] == chosen[None, places]
    shares = same / same.sum(axis=1)
    wins = shares @ wins @ shares
    # Sample i is the best of the n - 1 others below it; the one to compare with is not among them.
    below = np.array([comb(place - 1, n - 1) if place else 0 for place in range(total)], np.float64)
    above = np.array([comb(place, n - 1) for place in range(total)], np.float64)
    often = np.where(np.tri(total, k=-1, dtype=bool), below[:, None], above[:, None])
    np.fill_diagonal(often, 0.0)
    return float((often * wins).sum() / (comb(total, n) * (total - n)))


@dataclass(frozen=True)
class BestOfPoint:
    """Best of `n`: the means of what was chosen by and judged by, and the 95% interval of the latter."""

    n: int
    chosen_by: float
    judged_by: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """Best of n over questions. `peak` is the n that is judged best.

    `decline` is how the greatest n differs from the peak in what it is judged by, over the same questions;
    None where the greatest n is the peak.
    """

    points: tuple[BestOfPoint, ...]
    peak: int
    decline: PairedComparison | None

    @property
    def over_optimized(self) -> bool:
        """Whether more candidates than `peak` are worse: the interval of the decline is below 0."""
        return self.decline is not None and self.decline.high < 0

    @property
    def warning(self) -> str:
        """What to know before a greater n is used; empty where there is nothing."""
        if self.decline is None or not self.over_optimized:
            return ""
        return (
            f"Over-optimization starts after n = {self.peak}: there the second scorer judges best, and at "
            f"n = {self.points[-1].n} it gives {-self.decline.difference:.3f} less "
            f"({-self.decline.high:.3f} to {-self.decline.low:.3f})."
        )


def curve(
    order: Mapping[str, Sequence[float]],
    values: Mapping[str, Sequence[float]],
    ns: Sequence[int] | None = None,
) -> Curve:
    """The curve over questions: `order` and `values` have the N samples' numbers of each.

    `ns` are the n that are computed, by default all up to the fewest samples of a question. Raises
    `ValueError` where there are no questions or an n is greater than that.
    """
    if not order:
        raise ValueError("there are no questions")
    most = min(len(samples) for samples in order.values())
    wanted = sorted(set(ns or range(1, most + 1)))
    judged = {n: {key: best_of(order[key], values[key], n) for key in order} for n in wanted}
    points = []
    for n in wanted:
        low, high = interval(judged[n])
        chosen = np.mean([best_of(order[key], order[key], n) for key in order])
        points.append(BestOfPoint(n, float(chosen), float(np.mean(list(judged[n].values()))), low, high))
    peak = max(points, key=lambda point: point.judged_by).n
    last = wanted[-1]
    return Curve(tuple(points), peak, None if peak == last else compare(judged[last], judged[peak]))


def _shared(order: Matrix, values: Matrix) -> Matrix:
    """The values, where samples of equal order share their mean."""
    _, group = np.unique(order, return_inverse=True)
    shared: Matrix = (np.bincount(group, values) / np.bincount(group))[group]
    return shared
