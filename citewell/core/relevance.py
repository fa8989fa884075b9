"""The relevance of texts to a question, remembered: ranking, quoting and the prompt ask for the same ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Relevance = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""Scores n texts for a question, as `citewell.retriever.rank.Ranker.scores` does; an (n,) array."""

_QUESTIONS = 16


class RememberedRelevance:
    """Another relevance, with the scores of the texts of the last questions."""

    def __init__(self, relevance: Relevance) -> None:
        self._relevance = relevance
        self._scores: dict[str, dict[str, float]] = {}
        self._lock = threading.Lock()

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the relevance of each text, and compute only those that are new."""
        with self._lock:
            known = self._scores.pop(question, {})
            self._scores[question] = known
            if len(self._scores) > _QUESTIONS:
                del self._scores[next(iter(self._scores))]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, map(float, self._relevance(question, new)), strict=True))
        return np.array([known[text] for text in texts], dtype=np.float32)
