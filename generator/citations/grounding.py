"""Does one sentence of the references, the closest to the question, hold all that an answer adds to it?

A small model that judges an answer takes a name or a number from the next row for the right one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from citewell.core.quotable import quotable
from citewell.core.text import STOP_WORDS, content_words, words
from citewell.core.types import Reference
from citewell.generator.citations.support import digits

_STEM = 4  # letters that make two words one
_HEADING = 0.5  # of a word of the question in the title or the headings, beside one in the sentence
_NEAR, _ENOUGH = 1, 2  # words fewer than the most that count as well, if there are so many
_DENIAL = frozenset("not no never none nobody neither nor without cannot".split())  # noqa: SIM905
# What an answer may add on its own.
_FREE = STOP_WORDS | frozenset("yes up about around approximately at least most only just exactly".split())  # noqa: SIM905
_YES_OR_NO = re.compile(r"\W*(?:yes|no)\b", re.IGNORECASE)


def grounding(question: str, answer: str, references: Sequence[Reference]) -> Reference | None:
    """Return the reference with the sentence, item or row that the first sentence of an answer rests on.

    That is one of those that share most words with the question, if it has, with its headings, all words
    and numbers that the answer adds to the question, and denies something if the answer does. None if there
    is none, or if the answer adds nothing and is neither yes nor no.
    """
    asked = _stems(content_words(question))
    added = _stems(content_words(answer)) - _stems(words(question)) - _stems(_FREE)
    if not added and not _YES_OR_NO.match(answer):
        return None
    units = [unit for reference in references for unit in _units(reference)]
    most = max((unit.shared(asked) for unit in units), default=0.0)
    if not most:
        return None
    least = min(most, max(most - _NEAR, _ENOUGH))
    denies = _denies(answer)
    for unit in units:
        if unit.shared(asked) >= least and added <= unit.words | unit.above and (unit.denies or not denies):
            return unit.reference
    return None


class _Unit(NamedTuple):
    reference: Reference
    words: frozenset[str]
    above: frozenset[str]
    """Words of the title and the headings."""
    denies: bool

    def shared(self, asked: frozenset[str]) -> float:
        """Return how many words of the question it has."""
        return len(asked & self.words) + _HEADING * len((asked & self.above) - self.words)


def _units(reference: Reference) -> list[_Unit]:
    above = _stems(words(reference.title_path))
    return [_Unit(reference, _stems(words(text)), above, _denies(text)) for text in quotable(reference.text)]


def _stems(found: Iterable[str]) -> frozenset[str]:
    return frozenset(number if (number := digits(word)) else word[:_STEM] for word in found)


def _denies(text: str) -> bool:
    return bool(_DENIAL & set(words(text))) or "n't" in text.replace("’", "'")
