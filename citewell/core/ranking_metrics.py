"""Metrics for ranking the few references or answers of a question: the protocol of WebGLM's Tables 7 and 9.

A question has a few references with labels, such as their ROUGE-1 precision against the answer, or a few
answers with their votes, and a system scores each. WebGLM (§5.4.2, §5.4.3,
https://arxiv.org/abs/2306.07906) names four metrics without formulas; docs/evaluating-retrieval.md says how
the formulas below were derived from its numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

PAIRS = "pair accuracy"
SPEARMAN = "Spearman"
NDCG = "NDCG"
N_NDCG = "N-NDCG"
ORDER_MEASURES = (PAIRS, SPEARMAN, NDCG, N_NDCG)

Numbers = NDArray[np.float64]


def measure_order(labels: Sequence[float], scores: Sequence[float]) -> dict[str, float]:
    """Return the four metrics of one question, whose references or answers have these labels and scores.

    They are undefined if all labels are equal: check `has_order` first. Tied scores count as the mean over
    the orders that would break the tie.
    """
    truth, found = np.asarray(labels, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    return {
        PAIRS: pair_accuracy(truth, found),
        SPEARMAN: spearman(truth, found),
        NDCG: ndcg(truth, found),
        N_NDCG: normalized_ndcg(truth, found),
    }


def has_order(labels: Sequence[float]) -> bool:
    """Return whether some label is greater than another."""
    return len(set(labels)) > 1


def pair_accuracy(labels: Numbers, scores: Numbers) -> float:
    """Return the share of pairs with different labels whose scores are in the same order, 0 to 1.

    A pair with tied scores counts as one half; random scores give .5.
    """
    first, second = np.triu_indices(len(labels), 1)
    truth, found = np.sign(labels[first] - labels[second]), np.sign(scores[first] - scores[second])
    ordered = truth != 0
    return float(((truth * found)[ordered] + 1).mean() / 2)


def spearman(labels: Numbers, scores: Numbers) -> float:
    """Spearman's rank correlation, -1 to 1: Pearson's of the ranks, where tied values share their mean rank.

    It is 0 if all scores are equal.
    """
    truth, found = _ranks(labels), _ranks(scores)
    truth, found = truth - truth.mean(), found - found.mean()
    norm = float(np.sqrt((truth @ truth) * (found @ found)))
    return float(truth @ found) / norm if norm else 0.0


def area_under_curve(scores: Numbers, positive: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: the share of pairs of a positive and a negative in this order.

    Tied pairs count as one half; random scores give .5.
    """
    ranks = _ranks(scores)[positive].sum()
    count = int(positive.sum())
    return float((ranks - count * (count + 1) / 2) / (count * (len(positive) - count)))


def ndcg(labels: Numbers, scores: Numbers, depth: int | None = None) -> float:
    """DCG / ideal DCG, 0 to 1, with the label as gain and the discount 1 / log2(1 + rank).

    Ranks below `depth` do not count; without it, all do.
    """
    return _dcg(labels, scores, depth) / _dcg(labels, labels, depth)


def normalized_ndcg(labels: Numbers, scores: Numbers) -> float:
    """(DCG - worst DCG) / (ideal DCG - worst DCG): 0 for the worst order, 1 for the ideal order."""
    worst = _dcg(labels, -labels)
    return (_dcg(labels, scores) - worst) / (_dcg(labels, labels) - worst)


def collect(rows: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Values by metric and question, from values by question and metric."""
    return {name: {question: row[name] for question, row in rows.items()} for name in ORDER_MEASURES}


def _dcg(labels: Numbers, scores: Numbers, depth: int | None = None) -> float:
    """DCG, where tied scores share the mean discount of their ranks (McSherry and Najork 2008)."""
    discounts = 1 / np.log2(np.arange(2, len(scores) + 2))
    discounts[len(scores) if depth is None else depth :] = 0
    values, group = np.unique(-scores, return_inverse=True)
    sizes = np.bincount(group, minlength=len(values))
    ends = np.cumsum(sizes)
    total = np.concatenate(([0.0], np.cumsum(discounts)))
    shared = (total[ends] - total[ends - sizes]) / sizes
    return float(labels @ shared[group])


def _ranks(values: Numbers) -> Numbers:
    unique, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, minlength=len(unique))
    ranks: Numbers = (np.cumsum(sizes) - (sizes - 1) / 2)[group]
    return ranks
