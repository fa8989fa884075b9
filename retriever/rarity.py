"""The rarity of words in general: a question's rare words say what it is about."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path

LIST = Path(__file__).parent / "common_words.txt"
"""Beginnings of common words, most common first, as `python -m benchmarks.common_words` writes them."""
_STEM = 5  # leading characters that words of one stem share
_COMMONEST = 100  # the beginnings that are about equally common


def beginnings(found: Iterable[str]) -> frozenset[str]:
    """Return the first five letters of words, by which words of one stem count as one."""
    return frozenset(word[:_STEM] for word in found)


def rarity(beginning: str) -> float:
    """Return the rarity of a word by its beginning: from 0, for the commonest, to 1, for one not listed.

    It grows with the logarithm of the rank, as the inverse document frequency does by Zipf's law.
    """
    ranks = _ranks()
    rank = ranks.get(beginning, len(ranks))
    return math.log1p(rank / _COMMONEST) / math.log1p(len(ranks) / _COMMONEST)


def rarest(found: Iterable[str]) -> str:
    """Return the rarest of some beginnings of words, the first by letters of equals; "" of none."""
    return max(sorted(found), key=rarity, default="")


@cache
def _ranks() -> dict[str, int]:
    return {line: rank for rank, line in enumerate(LIST.read_text(encoding="utf-8").split())}
