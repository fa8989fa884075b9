"""Questions that ask almost the same: a training question that looks like a test question measures memory."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citewell.core.text import content_words

# Of rounding errors, so that 0.6 of five words is three.
_EPSILON = 1e-9


class Near(NamedTuple):
    """A question that is near another: its place among those indexed, and their similarity, to 1."""

    place: int
    similarity: float


def forms(question: str) -> tuple[frozenset[str], ...]:
    """The sets of words by which a question is compared: its title's, and those of title and body.

    Questions of forums are written `title`, empty line, `body`, with `Explain: ` before the first where it is
    no question (WebGPT, appendix B); elsewhere the same question may stand by its title alone. Words that say
    little, such as `what is the`, do not count: by them, all questions are alike.
    """
    question = question.removeprefix("Explain: ")
    title = question.split("\n\n", 1)[0]
    sets = (frozenset(content_words(text)) for text in (title, question))
    return tuple(dict.fromkeys(each for each in sets if each))


class NearDuplicates:
    """Finds the questions whose words have a Jaccard similarity of at least `threshold` with another's.

    No pair is missed, as pairs are by MinHash: two sets can only be so similar if they share one of their
    rarest words, so that only these are indexed (Bayardo, Ma and Srikant 2007, §4,
    https://doi.org/10.1145/1242572.1242591). The order and number of the questions do not change what is
    near.
    """

    def __init__(self, questions: Iterable[str], threshold: float) -> None:
        self._threshold = threshold
        self._sets: list[frozenset[str]] = []
        self._places: list[int] = []
        for place, question in enumerate(questions):
            for words in forms(question):
                self._sets.append(words)
                self._places.append(place)
        self._counts = Counter(word for words in self._sets for word in words)
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._sets):
            for word in self._rarest(words):
                self._index[word].append(number)

    def near(self, question: str) -> Sequence[Near]:
        """The indexed questions that are near this one, each once, the nearest first."""
        found: dict[int, float] = {}
        for words in forms(question):
            for number in {n for word in self._rarest(words) for n in self._index.get(word, ())}:
                similarity = _jaccard(words, self._sets[number])
                if similarity >= self._threshold - _EPSILON:
                    place = self._places[number]
                    found[place] = max(similarity, found.get(place, 0.0))
        return sorted(
            (Near(*each) for each in found.items()), key=lambda near: (-near.similarity, near.place)
        )

    def _rarest(self, words: frozenset[str]) -> list[str]:
        """The words of which one at least is shared with each set that is near enough."""
        ordered = sorted(words, key=lambda word: (self._counts[word], word))
        return ordered[: len(ordered) - math.ceil(self._threshold * len(ordered) - _EPSILON) + 1]


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    common = len(first & second)
    return common / (len(first) + len(second) - common)
