"""Citewell's ranking of passages, as in `citewell ask`."""

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
    """A system that reranks the candidates of `first` with the ranker, which encodes them per question.

    The ranker passes only some candidates to the encoder, and of duplicate passages only one; the dropped
    ones rank behind all others.
    """

    def __init__(self, name: str, ranker: Ranker, first: RankingSystem) -> None:
        self.name = name
        self._ranker = ranker
        self._first = first

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read the corpus with the first stage; the ranker reads nothing in advance."""
        started = time.perf_counter()
        first = self._first.read(corpus, needed, on_progress).searcher
        return PreparedSearcher(
            PipelineSearcher(corpus, self._ranker, first), len(corpus), time.perf_counter() - started
        )


class PipelineSearcher:
    """A searcher that ranks candidates."""

    def __init__(self, corpus: Corpus, ranker: Ranker, first: Searcher) -> None:
        self._corpus = corpus
        self._ranker = ranker
        self._first = first

    def search(self, question: str, depth: int) -> RankedRows:
        """Return the candidates of the first stage that the ranker keeps."""
        rows = self._rank(question, self._first.search(question, depth).rows)
        return RankedRows(rows, np.arange(len(rows), 0, -1, dtype=np.float32))

    def score(self, question: str, rows: Rows) -> Scores:
        """Score each row by its distance from the end of the ranking; 0 for rows that the ranker drops."""
        ranked = self._rank(question, rows)
        places = dict(zip(ranked.tolist(), range(len(ranked), 0, -1), strict=True))
        return np.array([places.get(row, 0) for row in rows.tolist()], dtype=np.float32)

    def _rank(self, question: str, rows: Rows) -> Rows:
        references = self._ranker.rank(question, self._passages(rows), len(rows))
        return np.array([int(reference.url) for reference in references], dtype=np.int64)

    def _passages(self, rows: Rows) -> Sequence[Passage]:
        # Each document is a separate page, so that the limit of references per page has no effect.
        return [Passage(str(row), self._corpus.titles[row], self._corpus.texts[row]) for row in rows.tolist()]
