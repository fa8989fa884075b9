"""Measures of scorers on questions whose values can be told by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

from citewell.core.errors import ModelError
from citewell.core.ranking_metrics import N_NDCG, PAIRS, SPEARMAN
from citewell.scorer.evaluation.clusters import ClusterShare, share, weighted
from citewell.scorer.evaluation.evaluate import evaluate
from citewell.scorer.evaluation.measures import (
    BRIER,
    ECE,
    LENGTH,
    LOG_LOSS,
    LONGER,
    MATCHED_PAIRS,
    measure,
)
from citewell.scorer.evaluation.system import ScoringSystem, length_system, random_system
from citewell.scorer.evaluation.task import AnswerPair, Item, ScoringTask


def item(key: str, lengths: Sequence[int], pairs: Sequence[tuple[int, int, float]], votes=()) -> Item:
    """A question whose answers have so many words."""
    answers = tuple(" ".join([f"{place}word"] * length) for place, length in enumerate(lengths))
    return Item(key, "Why?", answers, ((),) * len(answers), tuple(AnswerPair(*pair) for pair in pairs), votes)


def silent(text: str) -> None:
    """Tell nobody."""


def test_accuracy_is_the_share_of_all_pairs_without_ties_and_equal_scores_count_half() -> None:
    task = ScoringTask(
        "t",
        (
            item("a", (10, 10, 10), [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 0.5)]),
            item("b", (10, 20), [(0, 1, 0.0)]),
        ),
    )
    outcome = measure("s", task, {"a": [2, 1, 1], "b": [5, 1]})
    assert outcome.estimates[PAIRS].value == pytest.approx((1 + 0.5 + 0) / 3)
    assert (outcome.estimates[PAIRS].questions, outcome.estimates[PAIRS].number) == (2, 3)
    # The pair of b has lengths of 10 and 20.
    assert outcome.estimates[MATCHED_PAIRS].value == pytest.approx(0.75)
    assert outcome.estimates[LONGER].value == 0
    assert not {SPEARMAN, N_NDCG, LENGTH} & outcome.estimates.keys()


def test_the_values_of_questions_have_the_share_as_their_mean() -> None:
    parts = {"a": ClusterShare(1, 4), "b": ClusterShare(3, 3), "c": ClusterShare(0.5, 1)}
    found = share(parts)
    assert found is not None
    assert found.value == pytest.approx(4.5 / 8)
    assert sum(weighted(parts).values()) / 3 == pytest.approx(found.value)
    assert found.low < found.value < found.high
    assert share({}) is None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draw = random.Random(11)
    held = 0
    for _ in range(60):
        parts = {}
        for key in range(60):
            easy, total = draw.uniform(0.3, 0.9), draw.randint(1, 12)
            parts[str(key)] = ClusterShare(sum(draw.random() < easy for _ in range(total)), total)
        found = share(parts)
        assert found is not None
        held += found.low <= 0.6 <= found.high
    assert held >= 51


def test_order_within_a_question_needs_different_votes() -> None:
    task = ScoringTask(
        "t",
        (
            item("a", (3, 5, 9), [(0, 1, 1.0)], votes=(9.0, 5.0, 1.0)),
            item("b", (3, 5), [(0, 1, 1.0)], votes=(4.0, 4.0)),
        ),
    )
    outcome = measure("s", task, {"a": [3, 2, 1], "b": [1, 2]})
    assert outcome.estimates[SPEARMAN] == (1, 1, 1, 1, 1)
    assert outcome.estimates[N_NDCG].value == 1
    assert outcome.estimates[LENGTH].value == pytest.approx((-1 + 1) / 2)


def test_scores_by_rank_go_from_the_best_answer_to_the_worst() -> None:
    items = [item(str(k), (4,) * 5, [(0, 1, 1.0)], votes=(9.0, 7.0, 5.0, 3.0, 1.0)) for k in range(4)]
    outcome = measure("s", ScoringTask("t", tuple(items)), {str(k): [2, 1, 0, -1, -2] for k in range(4)})
    values = [point.value for point in outcome.ranks]
    assert values == sorted(values, reverse=True)
    assert sum(values) == pytest.approx(0)
    assert [point.number for point in outcome.ranks] == [4] * 5
    assert outcome.ranks[0].place == pytest.approx(0.05)


def sigmoid(first: float, second: float) -> float:
    return 1 / (1 + math.exp(second - first))


def calibrated(truth: float) -> dict[str, float]:
    """The calibration of scores whose difference, times `truth`, is the logit of people's preferences."""
    draw = random.Random(2)
    items, scores = [], {}
    for key in map(str, range(3000)):
        difference = draw.gauss(0, 1.5)
        people = float(draw.random() < sigmoid(truth * difference, 0))
        items.append(item(key, (1, 1), [(0, 1, people)]))
        scores[key] = [difference, 0.0]
    outcome = measure("s", ScoringTask("t", tuple(items)), scores, sigmoid)
    assert outcome.calibration is not None
    places = [point.place for point in outcome.calibration.bins]
    assert places == sorted(places)
    assert 0.5 <= places[0] < places[-1] <= 1
    assert sum(point.number for point in outcome.calibration.bins) == 3000
    return dict(outcome.calibration.measures)


def test_calibration_tells_right_predictions_from_overconfident_ones() -> None:
    right, over = calibrated(1.0), calibrated(0.2)
    assert right[ECE] < 0.03 < 0.1 < over[ECE]
    assert right[LOG_LOSS] < math.log(2) < over[LOG_LOSS]
    assert right[BRIER] < over[BRIER]


def test_ties_of_people_count_in_calibration() -> None:
    task = ScoringTask("t", (item("a", (1, 1), [(0, 1, 0.5)]),))
    outcome = measure("s", task, {"a": [0.0, 0.0]}, sigmoid)
    assert outcome.calibration is not None
    assert outcome.calibration.measures == pytest.approx({ECE: 0.0, LOG_LOSS: math.log(2), BRIER: 0.0})
    assert PAIRS not in outcome.estimates


def test_the_length_baseline_prefers_the_longer_and_the_random_one_does_not_change() -> None:
    task = ScoringTask("t", tuple(item(str(k), (4, 9), [(0, 1, 0.0)]) for k in range(200)))
    length = evaluate(task, length_system(), silent)
    assert length.estimates[PAIRS].value == length.estimates[LONGER].value == 1
    first, second = (evaluate(task, random_system(), silent) for _ in range(2))
    assert first.values == second.values


@pytest.mark.parametrize("scores", [[math.nan, 1.0], [1.0]])
def test_scores_that_are_no_numbers_are_an_error(scores: list[float]) -> None:
    task = ScoringTask("t", (item("a", (1, 1), [(0, 1, 1.0)]),))
    with pytest.raises(ModelError, match="broken gave no number"):
        evaluate(task, ScoringSystem("broken", lambda question, answers, references: scores), silent)
