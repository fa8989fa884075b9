"""Evidence: whether the best passages for a question are about it at all."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.core.text import content_words, words
from citewell.core.types import Reference

NOTHING = -1.0
"""The evidence where there are no references."""
_COVERED = 0.3  # what the share of the question's words counts beside the encoder's score
_STEM = 5  # characters in which words of one stem are alike


def evidence(question: str, references: Sequence[Reference]) -> float:
    """Return the evidence of the best reference; `NOTHING` where there is none.

    The evidence of a reference is 0.7 times its score by the encoder and 0.3 times the share of the
    question's content words that stand in its text or title, where words whose first five letters are alike
    are one. An encoder scores a question lower that does not name its subject, although all of its words are
    found: `benchmarks.no_evidence` compares the rule with the score alone.
    """
    asked = _stems(content_words(question))
    return max((_one(asked, reference) for reference in references), default=NOTHING)


def _one(asked: frozenset[str], reference: Reference) -> float:
    given = _stems(words(f"{reference.title} {reference.text}"))
    covered = len(asked & given) / max(1, len(asked))
    return (1 - _COVERED) * reference.score + _COVERED * covered


def _stems(found: Sequence[str]) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in found)
