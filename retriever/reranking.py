"""The cross-encoder's part in the order of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.cross_encoder.cross_encoder import CrossEncoder


@dataclass(frozen=True, slots=True)
class Reranker:
    """Orders the best `candidates` by their value plus `weight` × the cross-encoder's logit."""

    model: CrossEncoder
    candidates: int
    weight: float

    def values(
        self, question: str, texts: Sequence[str], values: NDArray[np.floating]
    ) -> NDArray[np.float64]:
        """Return the new values of `n` texts, given their (n,) old ones, best first.

        Texts after the first `candidates` are not read, and stay behind these.
        """
        read = np.asarray(values[: self.candidates], dtype=np.float64)
        rest = np.asarray(values[self.candidates :], dtype=np.float64)
        found = read + self.weight * self.model.scores(question, texts[: self.candidates])
        if not len(rest):
            return found
        return np.concatenate([found, rest - read[-1] + found.min()])
