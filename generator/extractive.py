"""The extractive generator: the sentences of the references that answer best, word for word."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.events import Token
from citewell.core.text import content_words, split_sentences, squeeze, words
from citewell.core.types import Reference

Relevance = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""Scores n texts for a question, as `citewell.retriever.rank.Ranker.scores` does; an (n,) array."""

_STOP = re.compile(r"[.!?。！？…][\"'”’)\]]*$")
# Beginnings that point at the sentence before: alone, such a sentence says half of what it means.
_POINTS_BACK = re.compile(
    r"(?:\w+\W+){1,3}(?:he|she|it|they|this|these|those|such|above)\b|"
    r"(?:he|she|it|its|his|her|they|their|them|this|these|those|that|such|however|but|and|or|so|thus|"
    r"therefore|hence|moreover|furthermore|also|then|another|both|the former|the latter|yet|nor|"
    r"consequently|additionally|similarly|likewise|instead|otherwise|meanwhile|nevertheless)\b",
    re.IGNORECASE,
)
# Endings that promise something that a quoted sentence does not bring along.
_POINTS_AHEAD = re.compile(r"(?:\bfollows|\bbelow|\bfollowing(?: \w+)?)\W*$", re.IGNORECASE)
_OPENING = "\"'“‘(«„「『《¿¡"
_SHORTEST, _LONGEST = 4, 60  # words
# A sentence that scores this much less than the best one leads away from the question.
_DROP = 0.15
# Content words in common, as a share of the shorter sentence, at which the second one is left out.
_REPEATS = 0.7
# Weight of the passage's score, which knows what the sentence is about, beside the sentence's own.
_CONTEXT = 0.5


class _Sentence(NamedTuple):
    reference: int  # index among the references
    place: int  # index among the reference's sentences
    text: str
    score: float


class ExtractiveGenerator:
    """Quotes instead of writing, so that every sentence is supported by construction.

    It takes the most relevant sentences of all references, leaves repetitions and fragments out, brings
    along the sentence before where one points back at it, and keeps sentences of a reference together in
    their own order, the best reference first.
    """

    name = "extractive"

    def __init__(self, relevance: Relevance, *, sentences: int) -> None:
        """Quote at most `sentences` sentences, chosen by `relevance`."""
        self._relevance = relevance
        self._most = sentences

    async def generate(
        self, question: str, references: Sequence[Reference], n: int, *, first: int = 0
    ) -> AsyncGenerator[Token, None]:
        """Stream the one answer there is, a sentence at a time; `n` plays no part."""
        if first:
            return
        chosen = await asyncio.to_thread(self._choose, question, references)
        for place, sentence in enumerate(chosen):
            mark = f"[{references[sentence.reference].number}]"
            yield Token(f"{' ' if place else ''}{sentence.text} {mark}")

    def _choose(self, question: str, references: Sequence[Reference]) -> list[_Sentence]:
        pool = self._score(question, references)
        by_place = {(s.reference, s.place): s for s in pool}
        chosen: dict[tuple[int, int], _Sentence] = {}
        ranked = sorted(pool, key=lambda s: -s.score)
        for sentence in ranked:
            if len(chosen) >= self._most or sentence.score < ranked[0].score - _DROP:
                break
            group = [sentence]
            while _POINTS_BACK.match(group[0].text):
                before = by_place.get((group[0].reference, group[0].place - 1))
                if before is None or len(group) == self._most:
                    group = []
                    break
                group.insert(0, before)
            new = [s for s in group if (s.reference, s.place) not in chosen]
            fits = len(chosen) + len(new) <= self._most
            if new and fits and not any(_repeats(s, other) for s in new for other in chosen.values()):
                chosen |= {(s.reference, s.place): s for s in new}
        order = list(dict.fromkeys(s.reference for s in chosen.values()))
        return sorted(chosen.values(), key=lambda s: (order.index(s.reference), s.place))

    def _score(self, question: str, references: Sequence[Reference]) -> list[_Sentence]:
        found = [
            (index, place, text)
            for index, reference in enumerate(references)
            for place, text in enumerate(_sentences(reference.text))
        ]
        texts = [f"{references[index].title}. {text}" for index, _, text in found]
        scores = self._relevance(question, texts)
        return [
            _Sentence(index, place, text, float(score) + _CONTEXT * references[index].score)
            for (index, place, text), score in zip(found, scores, strict=True)
            if _is_readable(text)
        ]


def _sentences(passage: str) -> list[str]:
    return [squeeze(s) for line in passage.splitlines() for s in split_sentences(line)]


def _is_readable(sentence: str) -> bool:
    length = len(words(sentence))
    return (
        _SHORTEST <= length <= _LONGEST
        and _STOP.search(sentence) is not None
        and "|" not in sentence
        and not _POINTS_AHEAD.search(sentence)
        and (sentence[0] in _OPENING or (sentence[0].isalnum() and not sentence[0].islower()))
    )


def _repeats(sentence: _Sentence, other: _Sentence) -> bool:
    mine, others = set(content_words(sentence.text)), set(content_words(other.text))
    return len(mine & others) >= _REPEATS * max(1, min(len(mine), len(others)))
