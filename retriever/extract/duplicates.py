"""Detection of paragraphs that several pages share, such as agency reports and copied articles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from citewell.core.text import words

_RUN = 4  # words
_SAME = 0.8  # share of common runs from which two paragraphs count as the same
_SKETCH = 8


class Fingerprint(NamedTuple):
    """The runs of four words of a paragraph, each as a number, and the eight smallest of these numbers.

    Of two paragraphs with four fifths of their runs in common, the smallest numbers are almost surely shared:
    the bottom-k sketch of Broder 1997, https://doi.org/10.1109/SEQUEN.1997.666900.
    """

    runs: frozenset[int]
    sketch: tuple[int, ...]


def fingerprint(text: str) -> Fingerprint:
    """Compute the fingerprint of a paragraph, which is the same on every machine."""
    found = words(text)
    runs = frozenset(
        crc32(" ".join(found[start : start + _RUN]).encode())
        for start in range(max(1, len(found) - _RUN + 1))
    )
    return Fingerprint(runs, tuple(sorted(runs)[:_SKETCH]))


def first_of_each(fingerprints: Iterable[Fingerprint]) -> Sequence[int]:
    """Return, for each of `n` paragraphs in order, the index of the first that says the same, or its own."""
    kept: dict[int, Fingerprint] = {}
    places: dict[int, list[int]] = {}
    firsts = []
    for place, mine in enumerate(fingerprints):
        near = sorted({other for number in mine.sketch for other in places.get(number, ())})
        first = next((other for other in near if _same(mine, kept[other])), place)
        firsts.append(first)
        if first == place:
            kept[place] = mine
            for number in mine.sketch:
                places.setdefault(number, []).append(place)
    return firsts


def _same(mine: Fingerprint, other: Fingerprint) -> bool:
    return len(mine.runs & other.runs) >= _SAME * len(mine.runs | other.runs)
