"""What is measured of several dev sets, one of which may have ties alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from citewell.scorer.data.types import Comparison, Group
from citewell.scorer.training.dev import ScorerDevSets
from citewell.scorer.training.sources import ComparisonSource
from tests.scorer.training.test_measures import pair


class KnownLogits(ScorerDevSets):
    """Dev sets whose scores are known, since only measures matter here."""

    def logits(self, model: Any, comparisons: Sequence[Comparison]) -> list[float]:
        return [1.0, -1.0, 2.0]


class Evaluated:
    def eval(self) -> None:
        """As PyTorch's models have it."""


def test_a_set_of_ties_has_no_accuracy() -> None:
    sources: Any = [
        ComparisonSource("judged", (Group("a", "q", (pair(5, 5, 1.0), pair(4, 5, 1.0))),)),
        ComparisonSource("ties", (Group("b", "q", (pair(5, 5, 0.5),)),)),
    ]
    encoder: Any = None
    found = KnownLogits(sources, encoder, "mean").measure(Evaluated())
    assert (found["accuracy"], found["accuracy_judged"]) == (pytest.approx(0.5), pytest.approx(0.5))
    assert "accuracy_ties" not in found
