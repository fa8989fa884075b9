"""BM25 and TF-IDF over a whole corpus."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.evaluation.systems.system import (
    OnProgress,
    PreparedSearcher,
    RankedRows,
    Rows,
    Scores,
    best,
)
from citewell.retriever.evaluation.systems.terms import Posting, Terms
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.lexical import bm25_idf, bm25_norms, bm25_weights

Weights = NDArray[np.float32]


class Weighting(NamedTuple):
    """The weights of a word: a score for each passage that holds it, and a factor for a question."""

    weights: Weights
    factor: Callable[[list[Posting]], list[float]]


class _Weigh(Protocol):
    def __call__(self, terms: Terms) -> Weighting: ...


class LexicalSystem:
    """A system that ranks by the words a passage shares with the question; `weigh` is `bm25` or `tf_idf`.

    The statistics of words cover the whole corpus in every mode.
    """

    def __init__(self, name: str, weigh: _Weigh) -> None:
        self.name = name
        self._weigh = weigh

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Count the words of all passages."""
        started = time.perf_counter()
        terms = Terms(corpus.passages, on_progress)
        searcher = LexicalSearcher(corpus, terms, self._weigh(terms))
        return PreparedSearcher(searcher, len(corpus), time.perf_counter() - started)


class LexicalSearcher:
    """A searcher that sums the weights of the question's words per passage."""

    def __init__(self, corpus: Corpus, terms: Terms, weighting: Weighting) -> None:
        self._corpus = corpus
        self._terms = terms
        self._weighting = weighting

    def search(self, question: str, depth: int) -> RankedRows:
        """Return the best passages that share a word with the question."""
        scores = self._scores(question)
        rows = np.flatnonzero(scores)
        return best(scores[rows], depth, self._corpus, rows)

    def score(self, question: str, rows: Rows) -> Scores:
        """Return the score of each row; 0 without a common word."""
        return self._scores(question)[rows]

    def _scores(self, question: str) -> Scores:
        scores = np.zeros(len(self._corpus), dtype=np.float32)
        postings = list(self._terms.postings(question))
        for posting, factor in zip(postings, self._weighting.factor(postings), strict=True):
            scores[self._terms.rows[posting.where]] += factor * self._weighting.weights[posting.where]
        return scores


def bm25(terms: Terms) -> Weighting:
    """Weigh words by BM25, with the formula of `citewell.retriever.lexical`, k1 1.2 and b 0.75.

    A word that the question repeats counts once per occurrence, as in Lucene.
    """
    idf = bm25_idf(len(terms.lengths), terms.holders).astype(np.float32)
    norms = bm25_norms(terms.lengths)
    weights: Weights = bm25_weights(terms.spread(idf), terms.counts.astype(np.float32), norms[terms.rows])
    return Weighting(weights, lambda postings: [float(word.times) for word in postings])


def tf_idf(terms: Terms) -> Weighting:
    """Weigh words for the cosine of TF-IDF vectors, like scikit-learn's TfidfVectorizer by default.

    A word weighs its count times (ln((1 + n) / (1 + df)) + 1), with n passages of which df hold it.
    """
    idf = (np.log((1 + len(terms.lengths)) / (1 + terms.holders)) + 1).astype(np.float32)
    weights = terms.spread(idf) * terms.counts.astype(np.float32)
    norms = np.sqrt(np.bincount(terms.rows, weights**2, minlength=len(terms.lengths)))

    def factor(postings: list[Posting]) -> list[float]:
        factors = np.array([word.times * idf[word.word] for word in postings])
        return list(factors / max(1e-9, float(np.linalg.norm(factors))))

    return Weighting((weights / norms[terms.rows]).astype(np.float32), factor)
