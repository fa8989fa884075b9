"""The ranking of one question, which grows while pages arrive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.relevance import Relevance
from citewell.core.text import encoded_text
from citewell.core.types import Passage, Reference
from citewell.retriever.best_sentence import READ, by_best_sentence, read_first
from citewell.retriever.candidates import CandidateFilter, Candidates, Counted
from citewell.retriever.choosing import OrderedPassage, WordSets, choose
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.extract.duplicates import Fingerprint, fingerprint, first_of_each
from citewell.retriever.reranking import Reranker


class _Arrived(NamedTuple):
    passages: tuple[Passage, ...]
    texts: tuple[str, ...]
    counted: tuple[Counted, ...]  # one per part
    fingerprints: tuple[Fingerprint, ...]
    date: str
    read: str
    is_encoded: bool


class Ranking:
    """The incremental ranking of one question's passages as they arrive (WebGLM §3.1.2).

    Encoding is slow, so it is done ahead: `advance` encodes BM25's best passages so far. `top` encodes the
    missing ones and returns the same references whatever the order in which pages arrive. It is not
    thread-safe.
    """

    def __init__(
        self,
        encoder: DualEncoder,
        question: str,
        prefilter: int,
        sentence_scores: Relevance,
        parts: Sequence[str] = (),
        reranker: Reranker | None = None,
    ) -> None:
        """Rank for `question` with `encoder`, which decides among the `prefilter` best passages for BM25.

        The best of these are read by their sentences, with `sentence_scores`, and by the `reranker`.

        For a question of several `parts`, each part and the whole have their own candidates and order, and
        each part gets a share of the references. Then half as many passages are encoded for each.
        """
        self._encoder = encoder
        self._parts = (*parts, question) if len(parts) > 1 else (question,)
        most = -(-prefilter // min(2, len(self._parts)))
        self._filters = [CandidateFilter(part, most) for part in self._parts]
        self._pages: dict[int, _Arrived] = {}
        self._vectors: Vectors | None = None
        self._scores: dict[str, NDArray[np.float32]] = {}
        self._sentence_scores = sentence_scores
        self._reranker = reranker
        self._word_sets = WordSets()
        self._filtered: _Filtered | None = None

    def add(
        self,
        position: int,
        passages: Sequence[Passage],
        date: str = "",
        vectors: Vectors | None = None,
        read: str = "",
    ) -> None:
        """Add the n passages of the hit at `position`, from 0, its date, and the day on which it was read.

        Ties go to the page with the lower position. Adding a position again replaces its page. `vectors`, an
        (n, dimension) array, are those of the passages from the same encoder, if they are known: then none
        of them is encoded, and `prefilter` does not limit them.
        """
        texts = tuple(encoded_text(passage.title_path, passage.text) for passage in passages)
        counted = tuple(part.count(passages) for part in self._filters)
        fingerprints = tuple(fingerprint(passage.text) for passage in passages)
        if vectors is not None:
            self._score(texts, vectors)
        self._pages[position] = _Arrived(
            tuple(passages), texts, counted, fingerprints, date, read, vectors is not None
        )
        self._filtered = None

    def advance(self, most: int) -> bool:
        """Encode at most `most` passages ahead of time, and return whether there were any."""
        missing = self._missing()[:most]
        self._encode(missing)
        return bool(missing)

    def relevance(self, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each of `n` texts to the question, or to the nearest part of it.

        Each text is encoded once.
        """
        self._encode(texts)
        return [float(self._scores[text].max()) for text in texts]

    def top(self, k: int) -> tuple[Reference, ...]:
        """Return the `k` most relevant passages, best first and numbered from 1, none of them twice.

        A reference's score is its relevance alone, which is comparable between questions and encoders.
        """
        self._encode(self._missing())
        return self.read(k)

    def read(self, k: int) -> tuple[Reference, ...]:
        """Return the references as `top` does, but only from passages that are already encoded."""
        return self._chosen(k, [self._reread(part) for part in range(len(self._parts))])

    def known(self, k: int) -> tuple[Reference, ...]:
        """Return the references as `read` does, but without reading their sentences, or the reranker."""
        return self._chosen(k, [self._ranked(part) for part in range(len(self._parts))])

    def _chosen(self, k: int, lists: Sequence[Sequence[OrderedPassage]]) -> tuple[Reference, ...]:
        filtered = self._filter()
        shared = max(1, len(lists) - 1)  # the last is the whole question
        references = []
        for number, (row, part) in enumerate(choose(lists, shared, k, self._word_sets), start=1):
            passage, score = filtered.passages[row], self._scores[filtered.texts[row]][part]
            date, read = filtered.dates[row]
            references.append(
                Reference(
                    number,
                    passage.url,
                    passage.title,
                    passage.text,
                    round(float(score), 4),
                    filtered.duplicate_urls.get(row, ()),
                    date or None,
                    passage.headings,
                    passage.page_number,
                    read=read or None,
                )
            )
        return tuple(references)

    def _ranked(self, part: int) -> list[OrderedPassage]:
        """Return the encoded candidates of a part, best first."""
        filtered = self._filter()
        candidates = filtered.candidates[part]
        texts = [filtered.texts[row] for row in candidates.rows]
        values = candidates.order(
            np.array([self._scores[text][part] if text in self._scores else -np.inf for text in texts])
        )
        return [
            OrderedPassage(row := int(candidates.rows[place]), float(values[place]), filtered.passages[row])
            for place in np.argsort(-values, kind="stable")
            if values[place] > -np.inf
        ]

    def _reread(self, part: int) -> list[OrderedPassage]:
        """Return the encoded candidates of a part by their best sentences and the reranker, if any."""
        ranked = self._ranked(part)
        if not ranked:
            return ranked
        read = -(-READ // len(self._parts))
        candidates = self._filter().candidates[part]
        ranked = read_first(ranked, candidates.rows[candidates.lexical > 0].tolist(), read)
        passages = [found.passage for found in ranked]
        question = self._parts[part]
        values = by_best_sentence(self._sentence_scores, question, passages, _values(ranked), read)
        ranked = _reordered(ranked, values)
        if self._reranker is None:
            return ranked
        texts = [self._filter().texts[found.row] for found in ranked]
        most = -(-self._reranker.candidates // len(self._parts))
        reranker = replace(self._reranker, candidates=most)
        return _reordered(ranked, reranker.values(question, texts, _values(ranked)))

    def _encode(self, texts: Sequence[str]) -> None:
        if missing := [text for text in dict.fromkeys(texts) if text not in self._scores]:
            self._score(missing, self._encoder.encode_passages(missing))

    def _score(self, texts: Sequence[str], vectors: Vectors) -> None:
        if self._vectors is None:
            self._vectors = self._encoder.encode_questions(self._parts)
        relevance = self._encoder.scale.relevance(vectors @ self._vectors.T)
        self._scores.update(zip(texts, relevance, strict=True))

    def _missing(self) -> list[str]:
        """Return the texts to encode, the parts in turns, best first."""
        filtered = self._filter()
        texts = (filtered.texts[row] for row in _in_turns(filtered.candidates))
        return [text for text in dict.fromkeys(texts) if text not in self._scores]

    def _filter(self) -> _Filtered:
        if self._filtered is None:
            arrived = [self._pages[position] for position in sorted(self._pages)]
            passages = [passage for page in arrived for passage in page.passages]
            firsts = np.array(
                first_of_each(mark for page in arrived for mark in page.fingerprints), dtype=int
            )
            encoded = np.array([page.is_encoded for page in arrived for _ in page.passages], dtype=bool)
            self._filtered = _Filtered(
                passages,
                [text for page in arrived for text in page.texts],
                [(page.date, page.read) for page in arrived for _ in page.passages],
                _duplicate_urls(passages, firsts),
                [
                    part.select([page.counted[number] for page in arrived], firsts, encoded)
                    for number, part in enumerate(self._filters)
                ],
            )
        return self._filtered


class _Filtered(NamedTuple):
    """All passages that arrived, by row, and the candidates among them for each part."""

    passages: list[Passage]
    texts: list[str]
    dates: list[tuple[str, str]]  # of publication, and of reading
    duplicate_urls: dict[int, tuple[str, ...]]
    candidates: list[Candidates]


def _duplicate_urls(passages: Sequence[Passage], firsts: NDArray[np.int_]) -> dict[int, tuple[str, ...]]:
    """Return, for the first of several passages that say the same, the other pages that have them."""
    others: dict[int, dict[str, None]] = {}
    for row, first in enumerate(firsts.tolist()):
        if passages[row].url != passages[first].url:
            others.setdefault(first, {})[passages[row].url] = None
    return {first: tuple(urls) for first, urls in others.items()}


def _values(ranked: Sequence[OrderedPassage]) -> NDArray[np.float64]:
    return np.array([found.value for found in ranked])


def _reordered(ranked: Sequence[OrderedPassage], values: NDArray[np.floating]) -> list[OrderedPassage]:
    again = [found._replace(value=float(value)) for found, value in zip(ranked, values, strict=True)]
    return sorted(again, key=lambda found: -found.value)


def _in_turns(candidates: Sequence[Candidates]) -> Iterator[int]:
    for place in range(max((len(of_part.rows) for of_part in candidates), default=0)):
        for of_part in candidates:
            if place < len(of_part.rows):
                yield int(of_part.rows[place])
