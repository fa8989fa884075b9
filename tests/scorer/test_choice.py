"""What a reader relies on: a candidate that the references do not support needs to be much better to win."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from citewell.core.errors import ModelError
from citewell.core.types import Sentence
from citewell.scorer.choice import choose

MARGIN = 0.5


def candidate(*support: float) -> list[Sentence]:
    """A candidate with a sentence for each number; 0 is an unsupported one."""
    return [
        Sentence(f"Sentence {place}.", (1,) if value else (), value, supported=bool(value))
        for place, value in enumerate(support)
    ]


GOOD, BETTER, HALF, NONE = candidate(0.8, 0.8), candidate(1.0, 1.0), candidate(0.9, 0), candidate(0, 0)


def winner(scores: Sequence[float], *candidates: list[Sentence], margin: float = MARGIN) -> int:
    return choose(scores, candidates, margin).best


def test_among_supported_candidates_the_score_decides() -> None:
    assert winner([0.2, 0.1, 0.3], BETTER, BETTER, GOOD) == 2


@pytest.mark.parametrize(("lead", "best"), [(0.3, 0), (0.5, 0), (0.8, 1)])
def test_an_unsupported_sentence_needs_a_lead_of_more_than_the_margin(lead: float, best: int) -> None:
    assert winner([0.0, lead], GOOD, HALF) == best
    assert winner([lead, 0.0], HALF, GOOD) == 1 - best


def test_the_share_of_unsupported_sentences_counts_and_not_the_length() -> None:
    most, longer = candidate(0.9, 0, 0, 0), candidate(0.9, 0.9, 0, 0)
    assert winner([0.0, 0.1], HALF, most) == 0
    assert winner([0.0, 0.15], HALF, most) == 1
    assert winner([0.0, 0.01], HALF, longer) == 1


def test_a_candidate_without_a_supported_sentence_never_beats_one_that_has_some() -> None:
    assert winner([-3.0, 9.0], HALF, NONE) == 0
    assert winner([-3.0, 9.0], HALF, []) == 0
    assert winner([-3.0, 9.0], NONE, NONE) == 1


def test_with_an_infinite_margin_the_score_decides_only_between_supported_candidates() -> None:
    assert winner([9.0, -1.0, -2.0], HALF, GOOD, GOOD, margin=math.inf) == 1


def test_without_a_margin_only_the_score_decides() -> None:
    assert winner([0.0, 0.01], GOOD, HALF, margin=0) == 1


def test_equal_values_are_decided_by_support_and_then_by_order() -> None:
    assert winner([0.5, 0.5], GOOD, BETTER) == 1
    assert winner([0.5, 0.5], GOOD, GOOD) == 0


def test_every_candidate_is_told_why() -> None:
    choice = choose([0.1, 0.5, 0.2, -0.4, 0.0], [GOOD, HALF, candidate(0.9, 0, 0), NONE, BETTER], MARGIN)
    assert choice.best == 0
    assert [v.reason for v in choice.verdicts] == [
        "Not the highest score: 2 higher, with more that is unsupported; of this one's, all are supported.",
        "The higher score, but 1 sentence is unsupported.",
        "The higher score, but 2 sentences are unsupported.",
        "No sentence is supported.",
        "The lower score.",
    ]
    assert [(v.score, v.adjusted_score, v.unsupported) for v in choice.verdicts[:3]] == [
        (0.1, 0.1, 0),
        (0.5, pytest.approx(-0.25), 1),
        (0.2, pytest.approx(0.2 - 0.5 - 0.5 * 2 / 3), 2),
    ]


def test_the_reasons_of_plain_choices() -> None:
    assert choose([0.1], [GOOD], MARGIN).verdicts[0].reason == "The only candidate."
    highest = choose([0.1, 0.4], [GOOD, GOOD], MARGIN)
    assert [v.reason for v in highest.verdicts] == ["The lower score.", "The highest score."]
    lower = choose([0.4, 0.1], [GOOD, HALF], MARGIN)
    assert lower.verdicts[1].reason == "The lower score, and 1 sentence is unsupported."
    even = choose([0.4, 0.4], [GOOD, BETTER], MARGIN)
    assert even.verdicts[0].reason == "As good as the winner, but less supported."


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_no_number_is_an_error(score: float) -> None:
    with pytest.raises(ModelError, match="not a number"):
        choose([0.0, score], [GOOD, GOOD], MARGIN)
