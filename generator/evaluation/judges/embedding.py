"""The judge that compares meanings: the cosine of sentence embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.core.text import split_sentences
from citewell.generator.evaluation.judges.judge import ClaimAndPassages

EMBEDDING = "embedding"
MODEL = "all-MiniLM-L6-v2"
"""The model of sentence embeddings, without Citewell's adapters, which were trained on ROUGE labels."""
THRESHOLD = 0.62
"""The minimum cosine of a supported claim, as `python -m benchmarks.judge_threshold` finds it."""
WINDOW = 1
"""The number of sentences embedded together, found by the same command."""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Embeds n texts as an (n, dimension) array of vectors of length 1."""


class EmbeddingJudge:
    """A judge that accepts a claim if it means about the same as some sentences of the passages.

    A whole passage says more than the claim, and its vector differs; so the claim is compared with every
    window of `WINDOW` sentences. The judge misses a claim that needs two windows, and accepts a wrong number
    if the rest agrees, which the lexical judge does not.
    """

    name = EMBEDDING

    def __init__(self, embed: Embed, threshold: float = THRESHOLD) -> None:
        self._embed = embed
        self._threshold = threshold

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the cosine of each pair reaches the threshold; n values."""
        return [cosine >= self._threshold for cosine in self.grades(pairs)]

    def grades(self, pairs: Sequence[ClaimAndPassages], window: int = WINDOW) -> list[float]:
        """Return the greatest cosine of each claim with a window of its passages.

        N numbers, -1 without passages.
        """
        pieces = {passage: windows(passage, window) for pair in pairs for passage in pair.passages}
        claims = [pair.claim for pair in pairs]
        texts = list(dict.fromkeys([*claims, *(piece for cut in pieces.values() for piece in cut)]))
        if not texts:
            return []
        vectors = dict(zip(texts, self._embed(texts), strict=True))
        found = []
        for pair in pairs:
            candidates = [vectors[piece] for passage in pair.passages for piece in pieces[passage]]
            found.append(float(max(np.stack(candidates) @ vectors[pair.claim])) if candidates else -1.0)
        return found


def windows(passage: str, size: int) -> list[str]:
    """Return all windows of `size` sentences of a passage; the passage itself if it has no more."""
    sentences = [sentence for line in passage.splitlines() for sentence in split_sentences(line)]
    if len(sentences) <= size:
        return [" ".join(sentences)] if sentences else []
    return [" ".join(sentences[start : start + size]) for start in range(len(sentences) - size + 1)]
