"""What is written about an evaluation of scorers: tables, JSON and plots."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from citewell.scorer.estimator import curve
from citewell.scorer.evaluation.evaluate import evaluate
from citewell.scorer.evaluation.plots import draw, draw_curves
from citewell.scorer.evaluation.report import ScorerEvaluation, comparisons, details, markdown, summary
from citewell.scorer.evaluation.system import ScoringSystem, length_system, random_system
from citewell.scorer.evaluation.task import AnswerPair, Item, ScoringTask


def like(question: str, answers: object, references: object) -> list[float]:
    return [3.0, 2.0, 1.0]


@pytest.fixture
def evaluation() -> ScorerEvaluation:
    items = tuple(
        Item(
            str(k),
            f"Why {k}?",
            ("a b", "c", "d e"),
            ((),) * 3,
            (AnswerPair(0, 1, 1.0), AnswerPair(0, 2, 1.0)),
            (9, 4, 1),
        )
        for k in range(30)
    )
    task = ScoringTask("votes.jsonl", items, ("questions  30",))
    liking = ScoringSystem("liking", like, lambda first, second: 1 / (1 + math.exp(second - first)))
    outcomes = tuple(
        evaluate(task, system, lambda text: None) for system in (length_system(), random_system(), liking)
    )
    return ScorerEvaluation(task, "length", outcomes, ("default is liking.",))


def test_the_summary_has_every_measure_with_its_interval(evaluation: ScorerEvaluation) -> None:
    found = json.loads(summary(evaluation))
    assert list(found) == ["length", "random", "liking"]
    assert found["length"]["pair accuracy"] == {
        "value": 0.75,
        "low": pytest.approx(0.75),
        "high": pytest.approx(0.75),
        "questions": 30,
        "number": 60,
    }
    assert found["liking"]["Spearman"]["value"] == 1
    assert 0 < found["liking"]["calibration error"] < 0.5
    assert "calibration error" not in found["length"]


def test_better_than_length_is_told_with_p(evaluation: ScorerEvaluation) -> None:
    found = comparisons(evaluation)
    assert found["pair accuracy"]["liking"].difference == pytest.approx(0.25)
    assert found["pair accuracy"]["liking"].p_holm < 0.01
    assert set(found) == {"pair accuracy", "length-matched accuracy", "Spearman", "N-NDCG"}
    page = markdown(evaluation, found)
    for text in ("30 questions, 60 pairs", "Differences to length", "default is liking.", "questions  30"):
        assert text in page


def test_the_details_have_what_plots_and_later_tests_need(evaluation: ScorerEvaluation) -> None:
    found = json.loads(details(evaluation, comparisons(evaluation)))
    assert len(found["values"]["liking"]["pair accuracy"]) == 30
    assert [point["number"] for point in found["ranks"]["liking"]] == [30, 30, 30]
    assert set(found["calibration"]) == {"liking"}


def test_plots_are_drawn(evaluation: ScorerEvaluation, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert [file.name for file in draw(evaluation, tmp_path)] == ["ranks.png", "calibration.png"]
    chance = random.Random(1)
    order = {str(q): [chance.gauss(0, 1) for _ in range(8)] for q in range(20)}
    turned = {key: [-abs(value - 0.3) for value in of] for key, of in order.items()}
    draw_curves({"liking": curve(order, turned)}, tmp_path / "curve.png")
    for name in ("ranks.png", "calibration.png", "curve.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
