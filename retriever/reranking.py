"""The cross-encoder's part in the order of candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell.core.settings import Settings
from citewell.retriever.cross_encoder.cross_encoder import CrossEncoder
from citewell.retriever.cross_encoder.load import load_cross_encoder


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


def load_reranker(
    settings: Settings, on_step: Callable[[str, str], None] = lambda name, step: None
) -> Reranker | None:
    """Load the cross-encoder of the settings; None without one. Raises as `load_cross_encoder` does."""
    wanted = settings.retriever
    if wanted.reranker == "none":
        return None
    model = load_cross_encoder(wanted.reranker, settings.cache_dir, threads=settings.threads, on_step=on_step)
    return Reranker(model, wanted.rerank, wanted.rerank_weight)
