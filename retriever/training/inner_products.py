"""Inner products by other encoders and by the model before training, for `retriever.losses.encoder_kl`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from citewell.core.progress import Counter, Log
from citewell.core.training.sources import question_key
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.evaluation.vectors import encode_corpus
from citewell.retriever.training.candidates import corpus_of
from citewell.retriever.training.rows import RowSource


class InnerProducts:
    """Vectors of all questions and passages by one encoder."""

    def __init__(self, questions: Mapping[str, Vectors], passages: Mapping[str, Vectors]) -> None:
        """Both arguments map the keys of texts to vectors of shape (d,)."""
        self._questions = questions
        self._passages = passages

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Vectors:
        """Return the inner products of q questions and p passages, a (q, p) array."""
        rows = np.stack([self._questions[question_key(text)] for text in questions])
        columns = np.stack([self._passages[question_key(text)] for text in passages])
        scores: Vectors = rows @ columns.T
        return scores


def read_inner_products(
    sources: Sequence[RowSource], encoder: DualEncoder, cache: Path, tell: Log
) -> InnerProducts:
    """Encode all texts of the sources; the vectors of passages are kept in `cache`."""
    rows = [row for source in sources for row in source.rows]
    corpus = corpus_of(text for row in rows for text in row.passages)
    counter = Counter(f"encoding passages with {Path(encoder.name).name}", tell)
    vectors = encode_corpus(corpus, encoder, cache, counter).vectors
    passages = {question_key(text): vector for text, vector in zip(corpus.passages, vectors, strict=True)}
    questions = {question_key(row.question): row.question for row in rows}
    encoded = encoder.encode_questions(list(questions.values()))
    return InnerProducts(dict(zip(questions, encoded, strict=True)), passages)
