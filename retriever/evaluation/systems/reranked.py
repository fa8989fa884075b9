"""Another system's order, whose best candidates a cross-encoder reads."""

from __future__ import annotations

import numpy as np

from citewell.retriever.encoder.scale import Scale
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
from citewell.retriever.reranking import Reranker


class RerankedSystem:
    """A system that reorders the best candidates of `first` (`citewell.retriever.reranking`).

    As in `citewell ask`, the inner products of `first` are put on the `scale` of its encoder before the
    cross-encoder's logits are added.
    """

    def __init__(self, name: str, first: RankingSystem, reranker: Reranker, scale: Scale) -> None:
        self.name = name
        self._scale = scale
        self._first = first
        self._reranker = reranker

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Read the corpus with the first system; the cross-encoder reads nothing in advance."""
        first = self._first.read(corpus, needed, on_progress)
        return first._replace(searcher=RerankedSearcher(corpus, first.searcher, self._reranker, self._scale))


class RerankedSearcher:
    """A searcher that reorders the results of another."""

    def __init__(self, corpus: Corpus, first: Searcher, reranker: Reranker, scale: Scale) -> None:
        self._corpus = corpus
        self._scale = scale
        self._first = first
        self._reranker = reranker

    def search(self, question: str, depth: int) -> RankedRows:
        """Return the candidates of the first system in the new order."""
        found = self._first.search(question, max(depth, self._reranker.candidates))
        values = self._values(question, found.rows, found.scores)
        return best(values, depth, self._corpus, found.rows)

    def score(self, question: str, rows: Rows) -> Scores:
        """Return the new value of each row, which depends on the other rows."""
        scores = self._first.score(question, rows)
        order = best(scores, len(rows), self._corpus, rows).rows
        places = {row: place for place, row in enumerate(rows.tolist())}
        sorted_places = [places[row] for row in order.tolist()]
        values = np.empty(len(rows), dtype=np.float32)
        values[sorted_places] = self._values(question, order, scores[sorted_places])
        return values

    def _values(self, question: str, rows: Rows, scores: Scores) -> Scores:
        texts = [self._corpus.passages[row] for row in rows.tolist()]
        return self._reranker.values(question, texts, self._scale.relevance(scores)).astype(np.float32)
