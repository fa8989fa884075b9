"""BM25: its formula, and its scores of a few hundred passages in memory, the filter before the dual encoder.

Robertson and Zaragoza 2009 (https://doi.org/10.1561/1500000019), eq. 3.15, with the idf of Lucene, which is
never negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.core.text import content_words, words

Scores = NDArray[np.float64]
Numbers = NDArray[Any]

K1 = 1.2  # saturation of repeated words
B = 0.75  # length normalization, 0 to 1


class Bm25:
    """BM25 for one query over texts that arrive gradually; each text is read once.

    The score of a text depends on all texts, so compute scores again after texts have arrived.
    """

    def __init__(self, query: str) -> None:
        """Score texts for `query`, without its function words and repeated words."""
        # In the query's order: a sum of floats depends on it, and results must not differ between runs.
        self._words = tuple(dict.fromkeys(content_words(query)))

    def count(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return an (n, 1 + words of the query) array: each text's length and its counts of these words."""
        counters = [Counter(words(text)) for text in texts]
        rows = [[counter.total(), *(counter[word] for word in self._words)] for counter in counters]
        return np.array(rows, dtype=np.float64).reshape(len(texts), 1 + len(self._words))

    def scores(self, counts: NDArray[np.float64]) -> Scores:
        """Return the score of each of `n` texts among the others, from the rows of `count`; an (n,) array."""
        scores = np.zeros(len(counts))
        if not len(counts):
            return scores
        norms = bm25_norms(counts[:, 0])
        idf = bm25_idf(len(counts), np.count_nonzero(counts[:, 1:], axis=0))
        for frequency, of_word in zip(counts[:, 1:].T, idf, strict=True):
            scores += bm25_weights(of_word, frequency, norms)
        return scores


def bm25(query: str, texts: Sequence[str]) -> Scores:
    """Score each of `n` texts for the query; an (n,) array, 0 where no word is shared (see `Bm25`)."""
    scorer = Bm25(query)
    return scorer.scores(scorer.count(texts))


def bm25_idf(texts: int, holders: Numbers) -> Numbers:
    """Return the inverse document frequency of words that `holders` of `texts` texts contain."""
    idf: Numbers = np.log(1 + (texts - holders + 0.5) / (holders + 0.5))
    return idf


def bm25_norms(lengths: Numbers) -> Numbers:
    """Return the length normalization of `n` texts of these lengths in words; an (n,) array."""
    norms: Numbers = K1 * (1 - B + B * lengths / max(1.0, lengths.mean()))
    return norms


def bm25_weights(idf: Numbers, frequency: Numbers, norms: Numbers) -> Numbers:
    """Return the contribution of words of this frequency to the scores of texts.

    The arrays have one shape, or there is one idf for all.
    """
    weights: Numbers = idf * frequency * (K1 + 1) / (frequency + norms)
    return weights
