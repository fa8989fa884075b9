"""Chooses references from ranked passages: none twice, few of one page, and a share for each part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.core.text import words
from citewell.core.types import Passage

PER_PAGE = 3
"""The most references of one page, as long as others are left."""
# A passage that has this share of its words in a chosen one adds nothing to it.
_SAME = 0.8


class OrderedPassage(NamedTuple):
    """A passage in the order of a part of the question: its row among all passages, and its value there."""

    row: int
    value: float
    passage: Passage


class Chosen(NamedTuple):
    """A chosen passage: its row, and the part of the question that it was chosen for."""

    row: int
    part: int


class WordSets:
    """The sets of words of passages, each made once."""

    def __init__(self) -> None:
        self._known: dict[str, frozenset[str]] = {}

    def __call__(self, text: str) -> frozenset[str]:
        """Return the words of the text."""
        if text not in self._known:
            self._known[text] = frozenset(words(text))
        return self._known[text]


def choose(
    lists: Sequence[Sequence[OrderedPassage]], shared: int, k: int, word_sets: WordSets
) -> list[Chosen]:
    """Choose `k` passages from lists, each best first; the first `shared` are of the parts of the question.

    The parts take turns until each has its share of `k`, and the best of the rest follow. `PER_PAGE` is
    exceeded only if there are too few other passages.
    """
    choice = _Choice(word_sets)
    for _ in range(k // shared):
        for part, ranked in enumerate(lists[:shared]):
            choice.take_first(((part, found) for found in ranked), PER_PAGE)
    together = sorted(
        ((part, found) for part, ranked in enumerate(lists) for found in ranked),
        key=lambda item: -item[1].value,
    )
    for limit in (PER_PAGE, k):
        while len(choice.chosen) < k and choice.take_first(iter(together), limit):
            pass
    return choice.chosen


class _Choice:
    def __init__(self, word_sets: WordSets) -> None:
        self.chosen: list[Chosen] = []
        self._word_sets = word_sets
        self._seen: set[int] = set()
        self._sets: list[frozenset[str]] = []
        self._of_page: Counter[str] = Counter()

    def take_first(self, candidates: Iterator[tuple[int, OrderedPassage]], limit: int) -> bool:
        """Choose the first candidate that adds something, with at most `limit` of its page."""
        for part, (row, _, passage) in candidates:
            if row in self._seen or self._of_page[passage.url] >= limit:
                continue
            self._seen.add(row)
            mine = self._word_sets(passage.text)
            if any(len(mine & other) >= _SAME * max(1, len(mine)) for other in self._sets):
                continue
            self.chosen.append(Chosen(row, part))
            self._sets.append(mine)
            self._of_page[passage.url] += 1
            return True
        return False
