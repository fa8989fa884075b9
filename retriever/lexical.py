"""BM25 over a few hundred passages in memory: the filter before the dual encoder."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.text import content_words, words


def bm25(query: str, texts: Sequence[str], *, k1: float = 1.2, b: float = 0.75) -> NDArray[np.float64]:
    """Score each of `n` texts for the query; an (n,) array, 0 where no word is shared.

    Robertson and Zaragoza 2009 (https://doi.org/10.1561/1500000019), eq. 3.15, with the idf of
    Lucene, which is never negative.
    """
    counts = [Counter(words(text)) for text in texts]
    lengths = np.array([counter.total() for counter in counts], dtype=np.float64)
    scores = np.zeros(len(texts))
    norm = k1 * (1 - b + b * lengths / max(1.0, lengths.mean())) if len(texts) else lengths
    for word in set(content_words(query)):
        frequency = np.array([counter[word] for counter in counts], dtype=np.float64)
        holders = np.count_nonzero(frequency)
        if holders:
            idf = math.log(1 + (len(texts) - holders + 0.5) / (holders + 0.5))
            scores += idf * frequency * (k1 + 1) / (frequency + norm)
    return scores
