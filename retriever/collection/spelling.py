"""Corrects misspelled names in a question by the titles of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from citewell.core.text import words

_LEAST, _LONG = 5, 7  # letters of a word that is corrected, and of one that is rarely another's misspelling
_RARE = 5  # passages in which a misspelling may be found, too
_COMMON = 20  # times as frequent a correction must be as a word that the collection has
_WORD = re.compile(r"[^\W\d_]+")


class Vocabulary(Protocol):
    """The words of a collection's pages."""

    def frequency(self, word: str) -> int:
        """Return how many passages have the word, in any form of its stem."""
        ...

    def titles_near(self, word: str, edits: int) -> Iterable[str]:
        """Return titles with a word that at most `edits` edits turn into `word`."""
        ...


def spelled(text: str, vocabulary: Vocabulary) -> str:
    """Return the text with words that the collection (almost) lacks replaced by close words of its titles."""
    return _WORD.sub(lambda found: _correction(found[0], vocabulary) or found[0], text)


def _correction(word: str, vocabulary: Vocabulary) -> str:
    """Return the most frequent close word of a title; empty if the word needs no correction or has none."""
    lower = word.lower()
    if len(lower) < _LEAST or not lower.isalpha():
        return ""
    own = vocabulary.frequency(lower)
    if own > (_RARE if len(lower) >= _LONG else 1):
        return ""
    near = {
        other: distance
        for title in vocabulary.titles_near(lower, 2)
        for other in words(title)
        if other[0] == lower[0] and 0 < (distance := edits(lower, other)) <= _allowed(lower, other)
    }
    frequencies = {other: vocabulary.frequency(other) for other in near}
    likely = [other for other in near if frequencies[other] >= max(1, own * _COMMON)]
    best = min(likely, key=lambda other: (near[other], -frequencies[other], other), default="")
    return best.capitalize() if word[0].isupper() else best


def _allowed(word: str, other: str) -> int:
    """Return how many edits may be between a misspelled word and the right one."""
    if sorted(word) == sorted(other):
        return 2
    return 0 if len(word) <= _LEAST else 1 if len(word) < 8 else 2


def edits(one: str, other: str) -> int:
    """Return how many letters to insert, delete, replace or swap with the next turn one word into the other.

    (The restricted Damerau-Levenshtein distance, https://doi.org/10.1145/363958.363994.)
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        last, row, before = before, [i], row
        for j, its in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == its:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
    return row[-1]
