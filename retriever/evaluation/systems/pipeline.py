"""Citewell's own ranking of a question's passages, as `citewell ask` does it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from citewell.core.types import Passage
from citewell.retriever.evaluation.systems.system import (
    OnProgress,
    PreparedSearcher,
    RankedRows,
    RankingSystem,
    Rows,
    Scores,
    Searcher,
)
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.rank import Ranker


class RankerSystem:
    """Ranks the candidates of `first` with the ranker, which encodes them when the question comes.

    The ranker lets only some candidates through to the encoder, and of passages that say the same only one;
    those that it leaves out stand behind all others.
    """

    def __init__(self, name: str, ranker: Ranker, first: RankingSystem) -> None:
        self.name = name
        self._ranker = ranker
        self._first = first

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read the corpus with the first stage; the ranker itself reads nothing ahead."""
        started = time.perf_counter()
        first = self._first.read(corpus, needed, on_progress).searcher
        return PreparedSearcher(
            PipelineSearcher(corpus, self._ranker, first), len(corpus), time.perf_counter() - started
        )


class PipelineSearcher:
    """Ranks candidates."""

    def __init__(self, corpus: Corpus, ranker: Ranker, first: Searcher) -> None:
        self._corpus = corpus
        self._ranker = ranker
        self._first = first

    def search(self, question: str, depth: int) -> RankedRows:
        """The candidates of the first stage that the ranker keeps."""
        rows = self._rank(question, self._first.search(question, depth).rows)
        return RankedRows(rows, np.arange(len(rows), 0, -1, dtype=np.float32))

    def score(self, question: str, rows: Rows) -> Scores:
        """How many places each row is from the end; 0 for what the ranker leaves out."""
        ranked = self._rank(question, rows)
        places = dict(zip(ranked.tolist(), range(len(ranked), 0, -1), strict=True))
        return np.array([places.get(row, 0) for row in rows.tolist()], dtype=np.float32)

    def _rank(self, question: str, rows: Rows) -> Rows:
        references = self._ranker.rank(question, self._passages(rows), len(rows))
        return np.array([int(reference.url) for reference in references], dtype=np.int64)

    def _passages(self, rows: Rows) -> Sequence[Passage]:
        # Each document is a page of its own: the limit of references from one page plays no part.
        return [Passage(str(row), self._corpus.titles[row], self._corpus.texts[row]) for row in rows.tolist()]
