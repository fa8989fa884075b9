"""A forest of oblivious trees: all nodes of a level ask one question, which numpy answers for all rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROWS = 1024  # judged at once, which limits the memory for pages of 100,000 pieces


@dataclass(frozen=True)
class Forest:
    """Gradient-boosted oblivious trees (CatBoost, https://arxiv.org/abs/1706.09516, §2).

    Tree `t` of `T` asks at level `l` of `L` whether column `columns[l, t]` of a row is above
    `borders[l, t]`; the answers are the bits of an index, lowest level first, into `leaves[:, t]`, which
    is (2^L, T), and `L` is at most 8. The score of a row is the sum of its leaves and `bias`.
    """

    columns: NDArray[np.int32]
    borders: NDArray[np.float32]
    leaves: NDArray[np.float32]
    bias: float

    def probabilities(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the probability of each of `n` rows; `values` is (n, d), the result (n,)."""
        parts = [self._scores(values[start : start + _ROWS]) for start in range(0, len(values), _ROWS)]
        probabilities: NDArray[np.float32] = np.reciprocal(1 + np.exp(-np.concatenate(parts)))
        return probabilities

    def _scores(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        asked = self._asked
        by_column = np.ascontiguousarray(values.T)
        answers = (by_column.take(asked.columns, axis=0) > asked.borders).view(np.uint8)
        places = np.zeros((self.columns.shape[1], len(values)), dtype=np.uint8)
        for questions in asked.questions[::-1]:
            places += places  # faster than a shift
            places |= answers.take(questions, axis=0)
        scores: NDArray[np.float32] = asked.leaves.take(asked.starts + places).sum(axis=0)
        return scores + np.float32(self.bias)

    @cached_property
    def _asked(self) -> _Asked:
        pairs = np.rec.fromarrays([self.columns, self.borders])
        different, questions = np.unique(pairs, return_inverse=True)
        leaves = np.ascontiguousarray(self.leaves.T)
        starts = np.arange(0, leaves.size, leaves.shape[1])[:, None]
        shape = self.columns.shape
        return _Asked(different["f0"], different["f1"][:, None], questions.reshape(shape), leaves, starts)


class _Asked(NamedTuple):
    """A forest arranged for computing: trees share about half of their `q` questions, each answered once.

    Question `i` is about `columns[i]` and `borders[i]`, (q,) and (q, 1); level `l` of tree `t` asks the
    question `questions[l, t]`. `leaves` is (T, 2^L), of which those of a tree begin at `starts[t]`, (T, 1).
    """

    columns: NDArray[np.int32]
    borders: NDArray[np.float32]
    questions: NDArray[np.int64]
    leaves: NDArray[np.float32]
    starts: NDArray[np.int64]
