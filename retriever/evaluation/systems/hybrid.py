"""A dual encoder and BM25 together, by a weighted sum of their scores."""

from __future__ import annotations

import numpy as np

from citewell.retriever.evaluation.systems.system import (
    OnProgress,
    PreparedSearcher,
    RankedRows,
    RankingSystem,
    Rows,
    Scores,
    Searcher,
    best,
)
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.fusion import fused

_DEPTH = 100  # the least number of candidates from each of the two


class HybridSystem:
    """A system that fuses two others' scores for the candidates of both (`citewell.retriever.fusion`)."""

    def __init__(self, name: str, dense: RankingSystem, lexical: RankingSystem) -> None:
        self.name = name
        self._dense = dense
        self._lexical = lexical

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read the corpus with both systems."""
        dense = self._dense.read(corpus, needed, on_progress)
        lexical = self._lexical.read(corpus, needed, on_progress)
        searcher = HybridSearcher(corpus, dense.searcher, lexical.searcher)
        return PreparedSearcher(searcher, dense.passages, dense.seconds + lexical.seconds)


class HybridSearcher:
    """A searcher that fuses the results of two others."""

    def __init__(self, corpus: Corpus, dense: Searcher, lexical: Searcher) -> None:
        self._corpus = corpus
        self._dense = dense
        self._lexical = lexical

    def search(self, question: str, depth: int) -> RankedRows:
        """Return the best of the candidates of both searchers."""
        depths = max(depth, _DEPTH)
        found = [searcher.search(question, depths).rows for searcher in (self._dense, self._lexical)]
        rows = np.unique(np.concatenate(found))
        return best(self.score(question, rows), depth, self._corpus, rows)

    def score(self, question: str, rows: Rows) -> Scores:
        """Return the fused score of each row, which depends on the other rows."""
        dense, lexical = self._dense.score(question, rows), self._lexical.score(question, rows)
        return fused(dense, lexical)
