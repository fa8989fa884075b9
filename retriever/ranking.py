"""The ranking of one question, which grows while pages arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.text import encoded_text, words
from citewell.core.types import Passage, Reference
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.extract.duplicates import Fingerprint, fingerprint, first_of_each
from citewell.retriever.lexical import Bm25

# Weight of BM25 (1 for the best passage) beside the relevance in the order of references, and the most
# references from one page: chosen on the questions of `benchmarks.ask_wikispeedia --split dev`, where they
# find the right article more often than relevance alone.
_LEXICAL = 0.2
PER_PAGE = 3
# Passages with this share of common words are duplicates; the better one is kept.
_SAME = 0.8


class _Arrived(NamedTuple):
    passages: tuple[Passage, ...]
    texts: tuple[str, ...]
    counts: NDArray[np.float64]
    fingerprints: tuple[Fingerprint, ...]
    date: str


class Ranking:
    """The incremental ranking of one question's passages as they arrive (WebGLM §3.1.2).

    Encoding is slow, so it is done ahead: `advance` encodes BM25's best passages so far. `top` encodes the
    missing ones and returns the same references whatever the order in which pages arrive. It is not
    thread-safe.
    """

    def __init__(self, encoder: DualEncoder, question: str, prefilter: int) -> None:
        """Rank for `question` with `encoder`, which decides among the `prefilter` best passages for BM25."""
        self._encoder = encoder
        self._question = question
        self._prefilter = prefilter
        self._bm25 = Bm25(question)
        self._pages: dict[int, _Arrived] = {}
        self._vector: Vectors | None = None
        self._scores: dict[str, float] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._filtered: _Filtered | None = None

    def add(self, position: int, passages: Sequence[Passage], date: str = "") -> None:
        """Add the passages and the date of the hit at `position`, from 0.

        Ties go to the page with the lower position. Adding a position again replaces its page.
        """
        texts = tuple(encoded_text(passage.title, passage.text) for passage in passages)
        fingerprints = tuple(fingerprint(passage.text) for passage in passages)
        self._pages[position] = _Arrived(tuple(passages), texts, self._bm25.count(texts), fingerprints, date)
        self._filtered = None

    def advance(self, most: int) -> bool:
        """Encode at most `most` passages ahead of time, and return whether there were any."""
        missing = self._missing()[:most]
        self.relevance(missing)
        return bool(missing)

    def relevance(self, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each of `n` texts to the question; each text is encoded once."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._scores]:
            if self._vector is None:
                (self._vector,) = self._encoder.encode_questions([self._question])
            products = self._encoder.encode_passages(missing) @ self._vector
            scores = self._encoder.scale.relevance(products)
            self._scores.update(zip(missing, map(float, scores), strict=True))
        return [self._scores[text] for text in texts]

    def top(self, k: int) -> tuple[Reference, ...]:
        """Return the `k` most relevant passages, best first and numbered from 1, none of them twice.

        A reference's score is its relevance alone, which is comparable between questions and encoders.
        """
        self.relevance(self._missing())
        return self.known(k)

    def known(self, k: int) -> tuple[Reference, ...]:
        """Return the references as `top` does, but only from passages that are already encoded."""
        filtered = self._filter()
        scores = np.array([self._scores.get(text, -np.inf) for text in filtered.texts])
        order = scores + _LEXICAL * filtered.lexical
        chosen: list[Reference] = []
        for row in np.argsort(-order, kind="stable"):
            passage = filtered.passages[row]
            if len(chosen) == k or order[row] == -np.inf:
                break
            if self._adds(passage, chosen):
                number, score = len(chosen) + 1, round(float(scores[row]), 4)
                duplicates, date = filtered.duplicate_urls[row], filtered.dates[row]
                chosen.append(
                    Reference(number, passage.url, passage.title, passage.text, score, duplicates, date)
                )
        return tuple(chosen)

    def _missing(self) -> list[str]:
        return [text for text in self._filter().texts if text not in self._scores]

    def _filter(self) -> _Filtered:
        if self._filtered is None:
            arrived = [self._pages[position] for position in sorted(self._pages)]
            counts = np.concatenate([page.counts for page in arrived] or [self._bm25.count([])])
            lexical = self._bm25.scores(counts)
            passages = [passage for page in arrived for passage in page.passages]
            texts = [text for page in arrived for text in page.texts]
            dates = [page.date for page in arrived for _ in page.passages]
            firsts = np.array(
                first_of_each(mark for page in arrived for mark in page.fingerprints), dtype=int
            )
            duplicates: dict[int, dict[str, None]] = {}
            for row in np.flatnonzero(firsts != np.arange(len(firsts))):
                first = int(firsts[row])
                if passages[row].url != passages[first].url:
                    duplicates.setdefault(first, {})[passages[row].url] = None
            # Duplicates are not ranked again: the first source stands for all.
            order = np.argsort(-lexical, kind="stable")
            kept = order[firsts[order] == order][: self._prefilter]
            share = lexical[kept] / max(lexical.max(initial=0.0), 1e-9)
            self._filtered = _Filtered(
                [passages[row] for row in kept],
                [texts[row] for row in kept],
                share,
                [tuple(duplicates.get(int(row), ())) for row in kept],
                [dates[row] for row in kept],
            )
        return self._filtered

    def _adds(self, passage: Passage, chosen: Sequence[Reference]) -> bool:
        of_page = sum(reference.url == passage.url for reference in chosen)
        return of_page < PER_PAGE and not any(self._alike(passage.text, other.text) for other in chosen)

    def _alike(self, text: str, other: str) -> bool:
        mine, others = self._words_of(text), self._words_of(other)
        return len(mine & others) >= _SAME * max(1, min(len(mine), len(others)))

    def _words_of(self, text: str) -> frozenset[str]:
        if text not in self._words:
            self._words[text] = frozenset(words(text))
        return self._words[text]


class _Filtered(NamedTuple):
    """Select passages by BM25, best first. `lexical` is their BM25 score divided by the best one's."""

    passages: list[Passage]
    texts: list[str]
    lexical: NDArray[np.float64]
    duplicate_urls: list[tuple[str, ...]]
    dates: list[str]
