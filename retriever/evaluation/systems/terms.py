"""An inverted index with the counts of words in passages, the basis of BM25 and TF-IDF."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from citewell.core.text import space_out
from citewell.retriever.evaluation.systems.system import OnProgress

_MAX_WORD = 60
_STEP = 1000  # passages between two reports of progress


class Posting(NamedTuple):
    """One word of a question: its number, its count in the question, and its place in `Terms`."""

    word: int
    times: int
    where: slice


class Terms:
    """An inverted index in memory. Word `w` is in the passages `rows[ends[w]:ends[w + 1]]`.

    Words are analyzed as for English by Tantivy: lower case, no accents, no stop words, Snowball's stems.
    `counts` are the occurrences of a word in a passage, `lengths` the words per passage, and `holders` the
    passages per word.
    """

    def __init__(self, texts: Sequence[str], on_progress: OnProgress) -> None:
        self._analyzer = _analyzer()
        self._numbers: dict[str, int] = {}
        words, rows, counts = array("i"), array("i"), array("i")
        self.lengths = np.zeros(len(texts), dtype=np.float32)
        for row, text in enumerate(texts):
            found = self._count(text)
            self.lengths[row] = found.total()
            words.extend(self._numbers.setdefault(word, len(self._numbers)) for word in found)
            rows.extend([row] * len(found))
            counts.extend(found.values())
            if (row + 1) % _STEP == 0:
                on_progress(row + 1, len(texts))
        numbers: NDArray[np.int32] = np.asarray(words)
        order = np.argsort(numbers, kind="stable")
        self.rows: NDArray[np.int32] = np.asarray(rows)[order]
        self.counts: NDArray[np.int32] = np.asarray(counts)[order]
        self.holders: NDArray[np.int64] = np.bincount(numbers, minlength=len(self._numbers))
        self._ends = np.concatenate(([0], np.cumsum(self.holders)))

    def spread(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Repeat a value of each word for each passage that holds it."""
        return np.repeat(values, self.holders)

    def postings(self, question: str) -> Iterator[Posting]:
        """Yield the distinct words of a question that the corpus holds."""
        for text, count in self._count(question).items():
            if (word := self._numbers.get(text)) is not None:
                yield Posting(word, count, slice(self._ends[word], self._ends[word + 1]))

    def _count(self, text: str) -> Counter[str]:
        return Counter(self._analyzer.analyze(space_out(text)))


def _analyzer() -> TextAnalyzer:
    builder = TextAnalyzerBuilder(Tokenizer.simple())
    for step in (
        Filter.remove_long(_MAX_WORD),
        Filter.lowercase(),
        Filter.ascii_fold(),
        Filter.stopword("english"),
        Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()
