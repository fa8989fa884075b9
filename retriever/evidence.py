"""Evidence: a measure of how well the best passages fit the question."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.text import content_words, words
from citewell.core.types import Reference

NOTHING = -1.0
"""The evidence without references."""
_COVERED = 0.3  # weight of the share of the question's words beside the encoder's score
_FOUND = 0.5
_STEM = 5  # leading characters that words of one stem share


def evidence(question: str, references: Sequence[Reference]) -> float:
    """Return the evidence of the best reference; `NOTHING` without references.

    The evidence of a reference is 0.7 times its score by the encoder and 0.3 times the share of the
    question's content words in its text or title; words with the same first five letters count as one. An
    encoder scores a question lower that does not name its subject, although all of its words are found:
    `benchmarks.no_evidence` compares the rule with the score alone.
    """
    asked = _stems(content_words(question))
    return max((_one(asked, reference) for reference in references), default=NOTHING)


def is_found(part: str, references: Sequence[Reference]) -> bool:
    """Return whether a reference has half of the content words of a part of the question."""
    asked = _stems(content_words(part))
    return any(_covered(asked, reference) >= _FOUND for reference in references)


def _one(asked: frozenset[str], reference: Reference) -> float:
    return (1 - _COVERED) * reference.score + _COVERED * _covered(asked, reference)


def _covered(asked: frozenset[str], reference: Reference) -> float:
    given = _stems(words(f"{reference.title} {reference.text}"))
    return len(asked & given) / max(1, len(asked))


def _stems(found: Sequence[str]) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in found)
