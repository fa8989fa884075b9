"""Ranking: from the passages of the fetched pages to a few numbered references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from citewell.core.relevance import RememberedRelevance
from citewell.core.types import Passage, Reference
from citewell.retriever.answer_reader import AnswerReader
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.parts import parts
from citewell.retriever.ranking import Ranking
from citewell.retriever.reranking import Reranker
from citewell.retriever.same_day import by_day


class Ranker:
    """A ranker that chooses references by the inner product of question and passage vectors (WebGLM §3.1.2).

    BM25 first selects `prefilter` passages, since encoding is slow, and later breaks near ties. A passage is
    encoded after its page's title, since half of all paragraphs do not name their subject.
    """

    def __init__(
        self,
        encoder: DualEncoder,
        *,
        prefilter: int,
        reranker: Reranker | None = None,
        reader: AnswerReader | None = None,
    ) -> None:
        """Rank with `encoder`, which sees at most `prefilter` passages per question.

        Then the best ones are read by sentence, also by the `reader`, and by the `reranker`.
        """
        self.encoder = encoder
        self.reader = reader
        self.sentence_scores = RememberedRelevance(self._sentence_scores)
        self._prefilter = prefilter
        self._reranker = reranker

    @property
    def name(self) -> str:
        """The name of the model that decides on the order."""
        return self.encoder.name if self._reranker is None else self._reranker.model.name

    def begin(self, question: str, parts: Sequence[str] = ()) -> Ranking:
        """Start the ranking for a question, perhaps of several parts, whose passages arrive page by page."""
        return Ranking(self.encoder, question, self._prefilter, self.sentence_scores, parts, self._reranker)

    def rank(self, question: str, passages: Sequence[Passage], k: int) -> tuple[Reference, ...]:
        """Return the `k` most relevant of all given passages, as `Ranking.top` does."""
        ranking = self.begin(question)
        ranking.add(0, passages)
        return ranking.top(k)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return the relevance of `n` texts to the question, each to its nearest part; an (n,) array."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        vectors = self.encoder.encode_questions(parts(question))
        products = self.encoder.encode_passages(texts) @ vectors.T
        return self.encoder.scale.relevance(products.max(axis=1))

    def _sentence_scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """Return how well `n` sentences answer the question, by encoder, reader and day; an (n,) array."""
        found = (
            self.scores(question, texts)
            if self.reader is None
            else self.reader.scores(question, texts, self.scores)
        )
        return found + by_day(question, texts)

    def reread(self, question: str, texts: Sequence[str], scores: Vectors) -> Vectors:
        """Return the (n,) scores of `n` texts with those of the best changed by the reranker, if any."""
        if self._reranker is None:
            return scores
        order = np.argsort(-scores, kind="stable")
        values = np.empty_like(scores)
        values[order] = self._reranker.values(question, [texts[place] for place in order], scores[order])
        return values
