"""Best of n: candidates are scored once, in a batch, and n stops where more would bring little."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import mean

import pytest

from citewell.core.types import Reference, Sentence
from citewell.scorer.best_of import BestOf, expected_gain, next_round
from citewell.scorer.scorer import PreferenceJudge, SupportScorer

REFERENCES = [Reference(n, "https://a.example/", "Bats", f"Passage {n}.", 0.9) for n in (1, 2, 3)]


class Liking:
    """A preference model that likes a text as much as its number says."""

    name = "liking"

    def __init__(self) -> None:
        self.asked: list[tuple[list[str], list[list[str]]]] = []

    def rate(
        self, question: str, answers: Sequence[str], references: Sequence[Sequence[str]] | None = None
    ) -> list[float]:
        assert references is not None
        self.asked.append((list(answers), [list(texts) for texts in references]))
        return [float(answer.split()[0]) for answer in answers]


def answer(number: float, *citations: int) -> tuple[Sentence, ...]:
    return (Sentence(f"{number} of ten.", citations or (1,), 0.9, supported=True),)


def rounds(model: Liking, *, most: int = 16, min_gain: float = 0.0) -> BestOf:
    return BestOf(PreferenceJudge(model), "Why?", REFERENCES, most=most, min_gain=min_gain)


def test_all_candidates_of_a_round_are_scored_in_one_batch_with_what_they_cite() -> None:
    model = Liking()
    best = rounds(model, most=3)
    assert best.wanted == 3
    best.add([answer(0.1, 1), answer(0.7, 2, 3), answer(0.2)], written=3)
    (asked,) = model.asked
    assert asked == (
        ["0.1 of ten.", "0.7 of ten.", "0.2 of ten."],
        [["Passage 1."], ["Passage 2.", "Passage 3."], ["Passage 1."]],
    )
    choice = best.choice()
    assert choice is not None
    assert (choice.best, best.wanted) == (1, 0)


def test_equal_candidates_are_one_and_scored_once_whatever_round_they_are_of() -> None:
    model = Liking()
    best = rounds(model, most=8, min_gain=1e-6)
    best.add([answer(0.1), answer(0.1), answer(0.3), ()], written=4)
    best.add([answer(0.3), answer(0.4)], written=4)
    assert [len(answers) for answers, _ in model.asked] == [2, 1]
    assert [of[0].text for of in best.candidates] == ["0.1 of ten.", "0.3 of ten.", "0.4 of ten."]
    choice = best.choice()
    assert choice is not None
    assert choice.best == 2


def test_no_candidate_with_a_sentence_is_no_choice() -> None:
    best = rounds(Liking(), most=2)
    best.add([(), ()], written=2)
    assert best.choice() is None
    assert best.wanted == 0


def test_without_a_least_gain_all_are_written_at_once() -> None:
    assert rounds(Liking(), most=64).wanted == 64


def test_it_stops_when_the_best_is_far_above_the_others_and_goes_on_when_it_is_not() -> None:
    lucky, unlucky = rounds(Liking(), min_gain=0.05), rounds(Liking(), min_gain=0.05)
    assert lucky.wanted == unlucky.wanted == 4
    lucky.add([answer(value) for value in (0.1, 0.0, 2.5, -0.1)], written=4)
    unlucky.add([answer(value) for value in (-0.5, 0.4, 0.5, 0.3)], written=4)
    assert lucky.wanted == 0
    assert unlucky.wanted == 4


def test_candidates_that_are_all_alike_end_it() -> None:
    best = rounds(Liking(), min_gain=0.1)
    best.add([answer(0.1)] * 4, written=4)
    assert best.wanted == 4  # four may be alike by chance
    best.add([answer(0.1)] * 4, written=4)
    assert best.wanted == 0


def test_a_generator_that_writes_only_one_is_not_asked_again() -> None:
    best = rounds(Liking(), min_gain=0.01)
    best.add([answer(0.1)], written=1)
    assert best.wanted == 0


def test_scores_without_a_scale_do_not_adapt_n() -> None:
    best = BestOf(SupportScorer(), "Why?", REFERENCES, most=16, min_gain=0.5)
    assert best.wanted == 16


@pytest.mark.parametrize(
    ("most", "sizes"), [(1, [1]), (2, [2]), (4, [4]), (5, [5]), (6, [4, 2]), (9, [4, 5]), (16, [4, 4, 8])]
)
def test_rounds_double_what_is_there_and_none_has_one_candidate(most: int, sizes: list[int]) -> None:
    found: list[int] = []
    while sum(found) < most:
        found.append(next_round(sum(found), most))
    assert found == sizes


def test_the_expected_gain_is_that_of_draws_from_the_normal_distribution() -> None:
    draw = random.Random(7)
    gains = [max(0.0, draw.gauss(0, 1) - 1) for _ in range(200_000)]
    # Half of the values are 1 and half -1: their mean is 0, their deviation 1, and the best is 1.
    assert expected_gain([1.0, -1.0] * 50) == pytest.approx(mean(gains), abs=0.002)
    assert expected_gain([0.0] * 100) < expected_gain([0.0] * 4)
