"""What becomes one element of a batch, and what its loss is."""

from __future__ import annotations

import math

import pytest
import torch

from citewell.scorer.data.types import Comparison, Group, RankedAnswers, Voted, VotedAnswer
from citewell.scorer.training.collate import Whole, targets
from citewell.scorer.training.config import ObjectiveConfig
from citewell.scorer.training.elements import CandidateText, Element, compared, elements, without_ties
from citewell.scorer.training.loss import length_correlation, loss_of, pairwise


class Row:
    """An encoded answer of so many tokens."""

    def __init__(self, answer: int) -> None:
        self.answer = answer


def part_of(element: Element, lengths: list[int] | None = None) -> dict[str, torch.Tensor]:
    rows = [Row(length) for length in lengths or [5] * len(element.answers)]
    return targets([element], rows, Whole.of([element]))  # type: ignore[arg-type]


def ranking(*answers: str) -> Group:
    comparisons = RankedAnswers("q", answers, group="g", source="s").comparisons()
    return Group("g", "q", comparisons)


def test_a_ranking_is_one_element_and_its_loss_is_equation_1_of_instructgpt() -> None:
    element = compared(ranking("best", "middle", "worst"))
    assert [answer.text for answer in element.answers] == ["best", "middle", "worst"]
    scores = torch.tensor([2.0, 0.5, -1.0])
    found = float(pairwise(scores, part_of(element)))
    gaps = (1.5, 3.0, 1.5)
    assert found == pytest.approx(sum(-math.log(1 / (1 + math.exp(-gap))) for gap in gaps) / 3, rel=1e-5)


def test_a_tie_is_a_soft_label() -> None:
    tie = Comparison("q", "a", "b", 0.5, group="g", source="s")
    part = part_of(compared(Group("g", "q", (tie,))))
    assert float(pairwise(torch.tensor([1.0, 1.0]), part)) == pytest.approx(math.log(2))
    assert float(pairwise(torch.tensor([3.0, 1.0]), part)) > math.log(2)


def test_ties_can_be_dropped() -> None:
    tie = Comparison("q", "a", "b", 0.5, group="g", source="s")
    won = Comparison("q", "a", "c", 1.0, group="g", source="s")
    (kept,) = without_ties([Group("g", "q", (tie, won)), Group("h", "r", (tie,))])
    assert kept.comparisons == (won,)


def test_answers_in_many_pairs_do_not_weigh_more() -> None:
    texts = ("a", "b", "c", "d")
    pairs = tuple(
        Comparison("q", first, second, 1.0, group="g", source="s")
        for place, first in enumerate(texts)
        for second in texts[place + 1 :]
    )
    element = compared(Group("g", "q", pairs))
    assert sum(pair.weight for pair in element.pairs) == pytest.approx(2)
    alone = compared(Group("g", "q", pairs[:1]))
    assert [pair.weight for pair in alone.pairs] == [1.0]


def test_the_same_text_with_other_references_is_another_answer() -> None:
    pair = Comparison("q", "a", "a", 1.0, references=("x",), second_references=("y",), group="g", source="s")
    element = compared(Group("g", "q", (pair,)))
    assert element.answers == (CandidateText("a", ("x",)), CandidateText("a", ("y",)))


def test_regression_and_classification_as_in_webglm() -> None:
    voted = [
        Voted(f"q{n}", tuple(VotedAnswer(f"{n}{v}", v) for v in (15, 3, 0)), group=f"g{n}", source="s")
        for n in range(5)
    ]
    regression = elements([], voted, "regression", 0)
    assert regression[0].labels[:3] == (1.0, 0.5, 0.0)
    assert set(regression[0].labels[3:]) <= {-1.0}
    classification = elements([], voted, "classification", 0)
    assert classification[0].labels[0] == 1.0
    assert classification[0].answers[0].text == "015"
    assert all(not answer.text.startswith("0") for answer in classification[0].answers[1:])
    scores = torch.zeros(len(regression[0].answers))
    objective = ObjectiveConfig(formulation="regression")
    expected = sum(label**2 for label in regression[0].labels) / len(regression[0].labels)
    assert float(loss_of(scores, part_of(regression[0]), objective)) == pytest.approx(expected)


def test_no_answer_that_is_only_disliked_is_a_good_one() -> None:
    voted = [
        Voted("q1", (VotedAnswer("bad", -1), VotedAnswer("worse", -3)), group="g1", source="s"),
        Voted("q2", (VotedAnswer("good", 4), VotedAnswer("poor", 0)), group="g2", source="s"),
    ]
    (found,) = elements([], voted, "classification", 0)
    assert (found.answers[0].text, found.labels[0]) == ("good", 1.0)


def test_the_length_penalty_is_highest_where_score_is_length() -> None:
    part = part_of(compared(ranking("a", "b", "c")), [40, 20, 10])
    long, mixed = torch.log(torch.tensor([41.0, 21.0, 11.0])), torch.tensor([0.0, 1.0, 0.0])
    assert float(length_correlation(long, part)) == pytest.approx(1.0, abs=1e-4)
    assert abs(float(length_correlation(mixed, part))) < 0.2
    penalty = ObjectiveConfig(length_penalty=2.0)
    extra = loss_of(long, part, penalty) - loss_of(long, part, ObjectiveConfig())
    assert float(extra) == pytest.approx(2.0, abs=1e-3)
