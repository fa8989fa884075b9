"""The protocol of scorers, and two: trained preference models, and citation support without training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from citewell.core.types import Reference, Sentence
from citewell.scorer.choice import MARGIN, mean_support

SUPPORT = "citation-support"
"""The name of the scorer that needs no training."""


class Scorer(Protocol):
    """A scorer rates each candidate; `citewell.scorer.choice` chooses by it (best of n, WebGLM §3.3).

    `margin` is what unsupported sentences cost at least, in the unit of the scores. `standardized` says
    whether the scores of answers have mean 0 and variance 1, so that what one more brings can be told.
    """

    name: str
    margin: float
    standardized: bool

    def score(
        self, question: str, candidates: Sequence[Sequence[Sentence]], references: Sequence[Reference]
    ) -> list[float]:
        """Score `n` candidates, each a sequence of checked sentences that cite `references`; n numbers."""
        ...


class Preferring(Protocol):
    """A trained preference model, as `citewell.scorer.load.load_scorer` gives it."""

    @property
    def name(self) -> str:
        """What answers say of it."""
        ...

    def rate(
        self, question: str, answers: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> list[float]:
        """The scores of `n` answers, with mean 0 and variance 1 over the answers that it learned from."""
        ...


class SupportScorer:
    """A scorer of answers by their sentences: the mean support, unsupported ones counting 0."""

    name = SUPPORT
    margin = 0.0
    standardized = False

    def score(
        self, question: str, candidates: Sequence[Sequence[Sentence]], references: Sequence[Reference]
    ) -> list[float]:
        """Score `n` candidates between 0 and 1; an empty one gets 0. The question plays no part."""
        return [round(mean_support(sentences), 4) for sentences in candidates]


class PreferenceJudge:
    """Scores candidates by what people prefer, as a trained model tells; unsupported sentences cost `margin`.

    The model reads the sentences without their marks, as the votes and comparisons that it learned from have
    none, and the references that the candidate cites.
    """

    standardized = True

    def __init__(self, model: Preferring, margin: float = MARGIN) -> None:
        """Score with `model`; `margin` is in standard deviations of its scores."""
        self.name = model.name
        self.margin = margin
        self._model = model

    def score(
        self, question: str, candidates: Sequence[Sequence[Sentence]], references: Sequence[Reference]
    ) -> list[float]:
        """Score `n` candidates in one batch."""
        if not candidates:
            return []
        answers = [" ".join(sentence.text for sentence in of) for of in candidates]
        cited = [{number for sentence in of for number in sentence.citations} for of in candidates]
        texts = [[r.text for r in references if r.number in numbers] for numbers in cited]
        return [round(score, 4) for score in self._model.rate(question, answers, texts)]
