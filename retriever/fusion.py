"""Hybrid search: the scores of a dual encoder and of BM25 as one score.

Both the search of a dense collection and the system `hybrid` of `citewell eval retrieval` use it. `python -m
benchmarks.fusion` compared the alternatives. (Several search providers, whose scores nobody knows, are fused
by reciprocal rank: `citewell.retriever.search.fusion`.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]

DENSE = 0.6
"""The weight of the dual encoder; the rest is BM25's."""


def fused(dense: Scores, lexical: Scores, weight: float = DENSE) -> Scores:
    """Return the weighted sum of the standard scores of the same `n` candidates; an (n,) array.

    Standard scores suit inner products of any scale and offset. `weight` is that of `dense`, 0 to 1.
    """
    return weight * standardized(dense) + (1 - weight) * standardized(lexical)


def standardized(scores: Scores) -> Scores:
    """Return the scores with mean 0 and deviation 1; all 0 if they are equal."""
    if not len(scores):
        return scores
    standard: Scores = (scores - scores.mean()) / np.maximum(scores.std(), np.float32(1e-9))
    return standard


class ScoredCandidates(NamedTuple):
    """The names that two searches found, with the (n,) scores of each search for all `n` of them."""

    names: tuple[str, ...]
    dense: Scores
    lexical: Scores


def candidates(dense: Mapping[str, float], lexical: Mapping[str, float], depth: int) -> ScoredCandidates:
    """Return the candidates of two lists of at most `depth` names with scores.

    A candidate missing from a list gets the score of its last item, the most that it can have. In a list by
    words that is shorter than `depth`, missing candidates share no word with the question and score 0.
    """
    names = tuple(sorted({*dense, *lexical}))
    missing = min(lexical.values()) if len(lexical) >= depth else 0.0
    return ScoredCandidates(
        names, _filled(dense, names, min(dense.values(), default=0.0)), _filled(lexical, names, missing)
    )


def _filled(scores: Mapping[str, float], names: Sequence[str], missing: float) -> Scores:
    return np.array([scores.get(name, missing) for name in names], dtype=np.float32)
