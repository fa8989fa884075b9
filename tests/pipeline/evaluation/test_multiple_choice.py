"""Which answers a language model finds likely."""

from __future__ import annotations

import math

import pytest

from citewell.pipeline.evaluation.multiple_choice import ChoiceLikelihood, choice_measures, choices
from citewell.pipeline.evaluation.truthful_questions import TruthfulQuestion

ROW = TruthfulQuestion("q?", ("long true answer", "Yes"), ("No", "false"), answer="Yes")


def test_answers_are_sentences_the_true_ones_first() -> None:
    assert choices(ROW) == ["long true answer.", "Yes.", "No.", "false."]


def test_choices_by_hand() -> None:
    shares = [(0.1, 4), (0.4, 1), (0.3, 1), (0.2, 2)]
    found = choice_measures(ROW, [ChoiceLikelihood(math.log(share), tokens) for share, tokens in shares])
    per_token = [share ** (1 / tokens) for share, tokens in shares]
    assert (
        found
        == pytest.approx(
            {
                "MC1": 1,
                "MC2": 0.5,
                "MC1 per token": 0,  # the last, of two tokens: .45
                "MC2 per token": sum(per_token[:2]) / sum(per_token),
            }
        )
    )


def test_the_best_answer_counts_and_no_other() -> None:
    likelihoods = [ChoiceLikelihood(math.log(share), 1) for share in (0.5, 0.1, 0.3, 0.1)]
    found = choice_measures(ROW, likelihoods)
    assert found["MC1"] == 0, "a false answer is likelier than the best one"
    assert found["MC2"] == pytest.approx(0.6)
