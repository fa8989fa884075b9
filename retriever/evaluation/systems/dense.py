"""A dual encoder over a whole corpus: the inner product of question and passage, searched exhaustively."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.evaluation.systems.system import (
    OnProgress,
    PreparedSearcher,
    RankedRows,
    Rows,
    Scores,
    best,
)
from citewell.retriever.evaluation.task import Corpus
from citewell.retriever.evaluation.vectors import encode_corpus


class DenseSystem:
    """A system that ranks by inner product. Encoded corpora are cached in `folder`."""

    def __init__(self, name: str, encoder: DualEncoder, folder: Path) -> None:
        self.name = name
        self._encoder = encoder
        self._folder = folder

    def read(self, corpus: Corpus, needed: Rows | None, on_progress: OnProgress) -> PreparedSearcher:
        """Encode the needed passages, or read their vectors from the cache."""
        rows = np.arange(len(corpus)) if needed is None else needed
        part = corpus if needed is None else corpus.only([corpus.ids[row] for row in rows])
        encoded = encode_corpus(part, self._encoder, self._folder, on_progress)
        return PreparedSearcher(
            DenseSearcher(corpus, rows, encoded.vectors, self._encoder), len(part), encoded.seconds
        )


class DenseSearcher:
    """A searcher over the vectors of the passages in `rows`, which are in ascending order."""

    def __init__(self, corpus: Corpus, rows: Rows, vectors: Vectors, encoder: DualEncoder) -> None:
        self._corpus = corpus
        self._rows = rows
        self._vectors = vectors
        self._encoder = encoder

    def search(self, question: str, depth: int) -> RankedRows:
        """Return the passages with the greatest inner products."""
        return best(self._vectors @ self._encode(question), depth, self._corpus, self._rows)

    def score(self, question: str, rows: Rows) -> Scores:
        """Return the inner product of the question and each row."""
        scores: Scores = self._vectors[np.searchsorted(self._rows, rows)] @ self._encode(question)
        return scores

    def _encode(self, question: str) -> Vectors:
        vector: Vectors = self._encoder.encode_questions([question])[0]
        return vector
