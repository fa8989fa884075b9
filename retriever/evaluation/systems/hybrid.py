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

_DEPTH = 100  # passages that each of the two puts forward, at least


class HybridSystem:
    """Fuses the scores that two systems give to the candidates of both (see `citewell.retriever.fusion`)."""

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
    """Fuses what two searchers find."""

    def __init__(self, corpus: Corpus, dense: Searcher, lexical: Searcher) -> None:
        self._corpus = corpus
        self._dense = dense
        self._lexical = lexical

    def search(self, question: str, depth: int) -> RankedRows:
        """The best of what either searcher puts forward."""
        depths = max(depth, _DEPTH)
        found = [searcher.search(question, depths).rows for searcher in (self._dense, self._lexical)]
        rows = np.unique(np.concatenate(found))
        return best(self.score(question, rows), depth, self._corpus, rows)

    def score(self, question: str, rows: Rows) -> Scores:
        """The fused score of each row; it depends on the other rows."""
        dense, lexical = self._dense.score(question, rows), self._lexical.score(question, rows)
        return fused(dense, lexical)
