"""The protocol of scorers, and the one that needs no training: citation support."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.types import Sentence


class Scorer(Protocol):
    """Gives each candidate answer a number; the highest wins (WebGLM §3.3, best of n)."""

    name: str

    def score(self, question: str, candidates: Sequence[Sequence[Sentence]]) -> list[float]:
        """Score `n` candidates, each a sequence of checked sentences; n numbers."""
        ...


class SupportScorer:
    """Prefers answers whose sentences are supported: the mean support, unsupported ones counting 0."""

    name = "citation-support"

    def score(self, question: str, candidates: Sequence[Sequence[Sentence]]) -> list[float]:
        """Score `n` candidates between 0 and 1; an empty one gets 0. The question plays no part."""
        return [
            round(sum(s.support for s in sentences if s.supported) / max(1, len(sentences)), 4)
            for sentences in candidates
        ]
