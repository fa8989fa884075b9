"""What is measured: anything that gives answers numbers, and two that need nothing but the text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from citewell.core.text import words

References = Sequence[Sequence[str]]
Rate = Callable[[str, Sequence[str], References], Sequence[float]]
"""The scores of `n` answers to a question, with the texts of each one's references; n numbers."""


@dataclass(frozen=True)
class ScoringSystem:
    """Something that scores answers.

    `preference` is the probability that people prefer an answer with the first score to one with the second;
    None for systems that promise none, which then cannot be calibrated.
    """

    name: str
    rate: Rate
    preference: Callable[[float, float], float] | None = None


RANDOM, LENGTH = "random", "length"


def random_system() -> ScoringSystem:
    """Scores that say nothing: a hash of the question and the answer, the same in every run."""

    def score(question: str, answer: str) -> float:
        text = f"{question}\n{answer}".encode(errors="replace")
        return int(hashlib.sha256(text).hexdigest()[:12], 16) / 16**12

    return ScoringSystem(RANDOM, lambda question, answers, references: [score(question, a) for a in answers])


def length_system() -> ScoringSystem:
    """The longer answer wins, in words: what a scorer of votes must beat to have learnt anything else."""
    return ScoringSystem(
        LENGTH, lambda question, answers, references: [float(len(words(a))) for a in answers]
    )
