"""What the benchmark of best of n computes from samples, on samples that are made up."""

from __future__ import annotations

import math
import random

import pytest

from benchmarks.best_of_n import PRECISION, RECALL, SUPPORTED, WORDS, SampledQuestion, adapted, measured
from citewell.core.types import Reference, Sentence
from citewell.generator.evaluation.rows import EvaluationRow


def question(number: int) -> SampledQuestion:
    """Seventeen samples and a greedy answer; one in three has an unsupported sentence, and is liked more."""
    chance = random.Random(number)
    sentences, score, judged, held = [], [], [], []
    for place in range(18):
        invented = place % 3 == 0
        text = (Sentence(f"{number} {place} is so.", (1,), 0.9, supported=True),)
        more = (Sentence(f"{number} {place} is not.", (), 0.1, supported=False),)
        sentences.append(text + more if invented else text)
        liked = chance.gauss(0.6 if invented else 0.0, 0.5)
        score.append(liked)
        judged.append(liked + chance.gauss(0, 0.3))
        held.append(0.5 if invented else 1.0)
    row = EvaluationRow(str(number), number, "Why?", (Reference(1, "", "", "So.", 0.0),))
    counted = {name: tuple(held) for name in (RECALL, PRECISION, SUPPORTED, WORDS)}
    return SampledQuestion(row, tuple(sentences), tuple(score), tuple(judged), counted)


QUESTIONS = [question(number) for number in range(30)]


def test_one_of_n_is_no_better_than_another_and_the_best_of_more_is() -> None:
    found = [measured(QUESTIONS, lambda q: q.by_rule(0.5), n) for n in (1, 4, 16)]
    wins = [row["beats a sample"].value for row in found]
    assert wins[0] == pytest.approx(0.5)
    assert wins == sorted(wins)
    assert [row["judged"].value for row in found] == sorted(row["judged"].value for row in found)


def test_a_wider_margin_means_more_support_for_less_liking() -> None:
    rows = [measured(QUESTIONS, lambda q, m=m: q.by_rule(m), 8) for m in (0.0, 0.5, 2.0, math.inf)]
    support = [row[SUPPORTED].value for row in rows]
    assert support == sorted(support)
    assert support[0] < 0.8
    assert support[-1] > 0.98
    assert rows[0]["judged"].value > rows[-1]["judged"].value
    alone = measured(QUESTIONS, SampledQuestion.by_score, 8)
    assert alone["judged"].value == pytest.approx(rows[0]["judged"].value)


def test_an_n_that_adapts_saves_candidates_for_a_little_less() -> None:
    found = adapted(QUESTIONS, 0.5)
    used = [values.candidates for values in found.values()]
    assert used[0] == 16
    assert used == sorted(used, reverse=True)
    assert used[-1] < 12
    assert found[0.0].less.value == 0
    assert found[0.2].less.value >= found[0.02].less.value
    # Writing all is best of 16, over random orders.
    exact = measured(QUESTIONS, lambda q: q.by_rule(0.5), 16)["judged"].value
    assert found[0.0].judged == pytest.approx(exact, abs=0.05)
