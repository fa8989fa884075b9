"""Finds near-duplicate questions: a training question that resembles a test question measures memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from citewell.core.text import content_words

# Tolerance for rounding errors, so that 0.6 of five words is three.
_EPSILON = 1e-9


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """The index of an indexed question, and its Jaccard similarity (0 to 1) with the one looked up."""

    index: int
    similarity: float


def forms(question: str) -> tuple[frozenset[str], ...]:
    """Return the word sets by which a question is compared: that of its title, and that of title and body.

    Forum questions are written as title, empty line, body, with `Explain: ` before a title that is not a
    question (WebGPT, appendix B); elsewhere the same question may consist of the title alone. Stop words do
    not count, since all questions share them.
    """
    question = question.removeprefix("Explain: ")
    title = question.split("\n\n", 1)[0]
    sets = (frozenset(content_words(text)) for text in (title, question))
    return tuple(dict.fromkeys(each for each in sets if each))


class NearDuplicates:
    """An index that finds questions whose word sets have a Jaccard similarity of at least `threshold`.

    Unlike MinHash, it misses no pair: two sets that similar share one of their rarest words, so only these
    are indexed (Bayardo, Ma and Srikant 2007, §4, https://doi.org/10.1145/1242572.1242591). The order and
    number of the questions do not change what is near.
    """

    def __init__(self, questions: Iterable[str], threshold: float) -> None:
        self._threshold = threshold
        self._sets: list[frozenset[str]] = []
        self._questions: list[int] = []  # the question of each set
        for index, question in enumerate(questions):
            for words in forms(question):
                self._sets.append(words)
                self._questions.append(index)
        self._counts = Counter(word for words in self._sets for word in words)
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._sets):
            for word in self._rarest(words):
                self._index[word].append(number)

    def near(self, question: str) -> Sequence[NearDuplicate]:
        """Return the indexed questions near this one, each once, nearest first."""
        found: dict[int, float] = {}
        for words in forms(question):
            for number in {n for word in self._rarest(words) for n in self._index.get(word, ())}:
                similarity = _jaccard(words, self._sets[number])
                if similarity >= self._threshold - _EPSILON:
                    index = self._questions[number]
                    found[index] = max(similarity, found.get(index, 0.0))
        return sorted(
            (NearDuplicate(*each) for each in found.items()), key=lambda near: (-near.similarity, near.index)
        )

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """Return the prefix filter: every set that is near enough shares at least one of these words."""
        ordered = sorted(words, key=lambda word: (self._counts[word], word))
        return ordered[: len(ordered) - math.ceil(self._threshold * len(ordered) - _EPSILON) + 1]


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    common = len(first & second)
    return common / (len(first) + len(second) - common)
