"""Whether the labels of dev rows have an order that a metric can measure."""

from __future__ import annotations

import pytest

from citewell.retriever.training.measures import measurable
from citewell.retriever.training.rows import LabeledRow


@pytest.mark.parametrize(
    ("targets", "found"), [((1.0, 0.0, 0.4), True), ((1.0, 0.4), False), ((0.4, 0.0), False)]
)
def test_the_area_under_the_curve_needs_labels_of_1_and_of_0(targets: tuple[float, ...], found: bool) -> None:
    passages = tuple(map(str, targets))
    assert measurable([LabeledRow("q", passages, targets)], "auc") is found
