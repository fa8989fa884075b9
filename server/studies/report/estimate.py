"""Means with their standard errors."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev
from typing import NamedTuple


class MeanEstimate(NamedTuple):
    """A mean over questions, its standard error (None for one question), and the numbers behind it."""

    mean: float
    error: float | None
    questions: int
    judgments: int


class ByQuestion:
    """Values by question: what several raters say of one is averaged first, as one observation."""

    def __init__(self, values: Iterable[tuple[str, float]] = ()) -> None:
        self._values: dict[str, list[float]] = defaultdict(list)
        for question, value in values:
            self.add(question, value)

    def add(self, question: str, value: float) -> None:
        """Add what one rater says of a question."""
        self._values[question].append(value)

    def means(self) -> Mapping[str, float]:
        """Return the mean of each question."""
        return {question: fmean(values) for question, values in self._values.items()}

    def estimate(self) -> MeanEstimate | None:
        """Return the mean over questions ± the standard error of that mean; None without values."""
        means = list(self.means().values())
        if not means:
            return None
        error = stdev(means) / math.sqrt(len(means)) if len(means) > 1 else None
        return MeanEstimate(fmean(means), error, len(means), sum(map(len, self._values.values())))
