"""The best sentence of each of the best passages, read once more.

One vector blurs a passage that speaks of several things: minutes, a manual, a diary. The passage whose best
sentence answers comes first (`python -m benchmarks.answer_bearing`, `python -m benchmarks.own_documents`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.core.quotable import pieces
from citewell.core.relevance import Relevance
from citewell.core.text import encoded_text
from citewell.core.types import Passage
from citewell.retriever.choosing import OrderedPassage

READ = 12
"""The most passages that are read, of all parts of a question together."""
_BY_WORDS = 2  # of these, the best by words: one vector says little of a table of names
_WEIGHT = 1.0
_UNREAD = 0.25  # quantile of the gains of those that are read, which each of the others gains


def read_first(
    passages: Sequence[OrderedPassage], by_words: Sequence[int], most: int
) -> list[OrderedPassage]:
    """Return the passages, given best first, with the `most` that are read before the others.

    Those are the best ones, and the first of `by_words`, the rows in their order by words.
    """
    read = set(by_words[: min(_BY_WORDS, most // 2)])
    for found in passages:
        if len(read) >= most:
            break
        read.add(found.row)
    return sorted(passages, key=lambda found: found.row not in read)


def by_best_sentence(
    relevance: Relevance,
    question: str,
    passages: Sequence[Passage],
    values: NDArray[np.floating],
    most: int,
) -> NDArray[np.float64]:
    """Return the new values of `n` passages for a question, given their (n,) old ones.

    Each of the first `most` gains the relevance of its best sentence, and each other what a weak one of these
    gains.
    """
    texts = [
        [encoded_text(each.title_path, text) for text in pieces(each.text) or [each.text]]
        for each in passages[:most]
    ]
    scores = iter(relevance(question, [text for of in texts for text in of]))
    best = np.array([max(float(next(scores)) for _ in of) for of in texts])
    gains = np.full(len(passages), np.quantile(best, _UNREAD))
    gains[: len(best)] = best
    return np.asarray(values, dtype=np.float64) + _WEIGHT * gains
