"""The agreement of raters is that of Krippendorff's own example."""

from __future__ import annotations

import pytest

from citewell.server.studies.report.coefficients import krippendorff_alpha

OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def test_the_published_example() -> None:
    units = [[int(score) for score in scores if score != "."] for scores in zip(*OBSERVERS, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.815, abs=0.0005)


def test_agreement_by_chance_and_nothing_to_go_by() -> None:
    assert krippendorff_alpha([[0, 0], [1, 1], [3, 3]]) == 1.0
    assert krippendorff_alpha([[0, 1], [1, 0]]) == -0.5
    assert krippendorff_alpha([[1, 1], [1, 1]]) is None
    assert krippendorff_alpha([[0], [1]]) is None
