"""The best sentence of each of the best passages, read by the dual encoder once more.

One vector blurs a passage that speaks of several things: minutes, a manual, a diary. The passage whose best
sentence answers comes first (`python -m benchmarks.answer_bearing`, `python -m benchmarks.own_documents`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.core.quotable import quotable
from citewell.core.text import encoded_text
from citewell.core.types import Passage
from citewell.retriever.encoder.encoder import Vectors

READ = 16
"""The most passages that are read, best first, of all parts of a question together."""
_WEIGHT = 1.0


class BestSentences:
    """The relevance of the best sentence of passages to each part of a question."""

    def __init__(self, relevance: Callable[[Sequence[str]], Vectors]) -> None:
        """Read with `relevance`, which gives n texts an (n, parts) array."""
        self._relevance = relevance
        self._known: dict[tuple[str, str], Vectors] = {}

    def values(
        self, part: int, passages: Sequence[Passage], values: NDArray[np.floating], most: int
    ) -> NDArray[np.float64]:
        """Return the new values of `n` passages for a part, given their (n,) old ones, best first.

        Each of the first `most` gains the relevance of its best sentence; the others stay behind these.
        """
        read = np.asarray(values[:most], dtype=np.float64)
        rest = np.asarray(values[most:], dtype=np.float64)
        self._read(passages[:most])
        found = read + _WEIGHT * np.array([self._known[_key(each)][part] for each in passages[:most]])
        return np.concatenate([found, rest - read[-1] + found.min()]) if len(rest) else found

    def _read(self, passages: Sequence[Passage]) -> None:
        missing = {_key(each): each for each in passages if _key(each) not in self._known}
        texts = {
            key: [encoded_text(each.title_path, text) for text in quotable(each.text) or [each.text]]
            for key, each in missing.items()
        }
        if not texts:
            return
        scores = iter(self._relevance([text for of in texts.values() for text in of]))
        for key, of in texts.items():
            self._known[key] = np.max([next(scores) for _ in of], axis=0)


def _key(passage: Passage) -> tuple[str, str]:
    return passage.title_path, passage.text
