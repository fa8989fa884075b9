"""The sentences of references that may answer a question: what is quoted, or shown to a small model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.text import content_words, split_sentences, squeeze, words
from core.types import Reference

Relevance = Callable[[str, Sequence[str]], NDArray[np.float32]]
"""Scores n texts for a question, as `retriever.rank.Ranker.scores` does; an (n,) array."""

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
# Content words in common, as a share of the shorter sentence, at which the second one is left out.
_REPEATS = 0.7
# Weight of the passage's score, which knows what the sentence is about, beside the sentence's own.
_CONTEXT = 0.5
# How full the room must be before a sentence that does not fit ends the search.
_FULL = 0.8


class Evidence(NamedTuple):
    """A sentence of a reference, and how near it is to the question."""

    reference: int
    """Index among the references."""
    place: int
    """Index among the reference's sentences."""
    text: str
    score: float

    @property
    def points_back(self) -> bool:
        """Whether it says half of what it means without the sentence before it."""
        return _POINTS_BACK.match(self.text) is not None

    def repeats(self, other: Evidence) -> bool:
        """Whether it says much the same as another sentence."""
        mine, others = set(content_words(self.text)), set(content_words(other.text))
        return len(mine & others) >= _REPEATS * max(1, min(len(mine), len(others)))


def find_evidence(question: str, references: Sequence[Reference], relevance: Relevance) -> list[Evidence]:
    """All sentences of the references that can be read alone, in their order; fragments are left out."""
    found = [
        (index, place, text)
        for index, reference in enumerate(references)
        for place, text in enumerate(_sentences(reference.text))
    ]
    texts = [f"{references[index].title}. {text}" for index, _, text in found]
    scores = relevance(question, texts)
    return [
        Evidence(index, place, text, float(score) + _CONTEXT * references[index].score)
        for (index, place, text), score in zip(found, scores, strict=True)
        if _is_readable(text)
    ]


@dataclass(frozen=True, slots=True)
class Focus:
    """Shows of references only the sentences that are nearest to the question.

    They are read faster than five whole passages.
    """

    relevance: Relevance
    tokens: int
    """How much is shown of all references together."""

    def __call__(
        self, question: str, references: Sequence[Reference], count: Callable[[str], int]
    ) -> list[Reference]:
        """The references with what is shown of them; `count` counts tokens.

        Sentences stay in their order. One that points back brings the one before it along; one that repeats
        another is left out. A reference of which nothing is left has an empty text. Where no sentence can be
        read alone, as in tables, the references stay as they are.
        """
        chosen = _choose(find_evidence(question, references, self.relevance), self.tokens, count)
        if not chosen:
            return list(references)
        return [
            replace(reference, text=" ".join(text for (of, _), text in sorted(chosen.items()) if of == index))
            for index, reference in enumerate(references)
        ]


def _choose(pool: Sequence[Evidence], tokens: int, count: Callable[[str], int]) -> dict[tuple[int, int], str]:
    """The best sentences of at most `tokens` tokens together, by reference and place."""
    before = {(each.reference, each.place + 1): each for each in pool}
    chosen: dict[tuple[int, int], Evidence] = {}
    used = 0
    for each in sorted(pool, key=lambda each: -each.score):
        group = [each]
        if each.points_back and (each.reference, each.place) in before:
            group.insert(0, before[each.reference, each.place])
        new = [one for one in group if (one.reference, one.place) not in chosen]
        if any(one.repeats(other) for one in new for other in chosen.values()):
            continue
        cost = sum(count(one.text) for one in new)
        if used + cost <= tokens:
            used += cost
            chosen |= {(one.reference, one.place): one for one in new}
        elif used > _FULL * tokens:
            break
    return {place: each.text for place, each in chosen.items()}


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
