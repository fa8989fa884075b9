"""Short accepted answers: whether a text has one, and how much a short answer agrees with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from citewell.core.text import words

_ARTICLES = frozenset({"a", "an", "the"})


def normalized(text: str) -> str:
    """Return the words of a text without case, punctuation and articles, joined by spaces.

    As in SQuAD's measures (https://arxiv.org/abs/1606.05250, §6.1), but a hyphen parts words.
    """
    bare = text.replace("'", "").replace("’", "")
    return " ".join(word for word in words(bare) if word not in _ARTICLES)


def has_answer(text: str, answers: Sequence[str]) -> bool:
    """Return True if the text contains one of the answers as whole words, both `normalized`."""
    inside = f" {normalized(text)} "
    return any(wanted and f" {wanted} " in inside for wanted in map(normalized, answers))


def exact_match(text: str, answers: Sequence[str]) -> bool:
    """Return True if the text is one of the answers, both `normalized`."""
    return normalized(text) in map(normalized, answers)


def token_f1(text: str, answers: Sequence[str]) -> float:
    """Return the best F1, 0 to 1, of the words of the text and of an answer, both `normalized`."""
    return max((_f1(normalized(text).split(), normalized(answer).split()) for answer in answers), default=0.0)


def _f1(some: Sequence[str], others: Sequence[str]) -> float:
    if not some or not others:
        return float(some == others)
    shared = (Counter(some) & Counter(others)).total()
    return 2 * shared / (len(some) + len(others))
