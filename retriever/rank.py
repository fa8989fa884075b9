"""Ranking: from the passages of the fetched pages to a few numbered references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.text import words
from core.types import Passage, Reference
from retriever.encoder.encoder import DualEncoder, Vectors
from retriever.lexical import bm25

# Weight of BM25 (1 for the best passage) beside the inner product in the order of references, and the most
# references from one page: chosen on the questions of `benchmarks.ask_wikispeedia --split dev`, where
# they bring the right article among the references more often than the inner product alone.
_LEXICAL = 0.2
_PER_PAGE = 3
# Two passages with this share of words in common say the same; the better one is kept.
_SAME = 0.8


class Ranker:
    """Chooses references by the inner product of question and passage vectors (WebGLM §3.1.2).

    BM25 first lets `prefilter` passages through, since encoding is what takes the time, and later breaks
    near ties. A passage is encoded with its page's title before it, without which half of all paragraphs
    do not say what they are about.
    """

    def __init__(self, encoder: DualEncoder, *, prefilter: int) -> None:
        """Rank with `encoder`, which sees at most `prefilter` passages a question."""
        self.encoder = encoder
        self._prefilter = prefilter

    def rank(self, question: str, passages: Sequence[Passage], k: int) -> tuple[Reference, ...]:
        """The `k` most relevant passages, best first and numbered from 1, none of them twice.

        A reference's score is its inner product alone, which is comparable between questions.
        """
        if not passages:
            return ()
        texts = [f"{passage.title}. {passage.text}" for passage in passages]
        lexical = bm25(question, texts)
        kept = np.argsort(-lexical, kind="stable")[: self._prefilter]
        scores = self.scores(question, [texts[index] for index in kept])
        order = scores + _LEXICAL * lexical[kept] / max(lexical.max(), 1e-9)
        chosen: list[Reference] = []
        for place in np.argsort(-order, kind="stable"):
            passage = passages[kept[place]]
            if len(chosen) < k and _adds(passage, chosen):
                number, score = len(chosen) + 1, round(float(scores[place]), 4)
                chosen.append(Reference(number, passage.url, passage.title, passage.text, score))
        return tuple(chosen)

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """The relevance of each of `n` texts to the question; an (n,) array."""
        if not texts:
            return np.zeros(0, dtype=np.float32)
        (vector,) = self.encoder.encode_questions([question])
        scores: Vectors = self.encoder.encode_passages(texts) @ vector
        return scores


def _adds(passage: Passage, chosen: Sequence[Reference]) -> bool:
    of_page = sum(reference.url == passage.url for reference in chosen)
    return of_page < _PER_PAGE and not any(_alike(passage.text, other.text) for other in chosen)


def _alike(text: str, other: str) -> bool:
    mine, others = set(words(text)), set(words(other))
    return len(mine & others) >= _SAME * max(1, min(len(mine), len(others)))
