"""The systems under evaluation: any scorer of answers, and two baselines that use only the text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.core.text import words

References = Sequence[Sequence[str]]
Rate = Callable[[str, Sequence[str], References], Sequence[float]]
"""Returns n scores for the `n` answers to a question, given the texts of each answer's references."""


@dataclass(frozen=True)
class ScoringSystem:
    """A system that scores answers.

    `preference` returns the probability that people prefer an answer with the first score to one with the
    second; it is None for systems without a model of it, which cannot be calibrated.
    """

    name: str
    rate: Rate
    preference: Callable[[float, float], float] | None = None


RANDOM, LENGTH = "random", "length"


def random_system() -> ScoringSystem:
    """Make the random baseline: a hash of the question and the answer, the same in every run."""

    def score(question: str, answer: str) -> float:
        text = f"{question}\n{answer}".encode(errors="replace")
        return int(hashlib.sha256(text).hexdigest()[:12], 16) / 16**12

    return ScoringSystem(RANDOM, lambda question, answers, references: [score(question, a) for a in answers])


def length_system() -> ScoringSystem:
    """Make the length baseline: the longer answer in words wins, which a scorer of votes must beat."""
    return ScoringSystem(
        LENGTH, lambda question, answers, references: [float(len(words(a))) for a in answers]
    )
