"""The sets that measure checks of support, the measures, and the floor of the word rule."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.citation_support import (
    FACTS,
    NLI,
    READER,
    RULE,
    WORDS,
    check_by_inference,
    measure_sets,
    plotted,
)
from benchmarks.support_measures import Verdicts, bins, calibration_error, draw, measured
from benchmarks.support_sets import RECIPE, JudgedClaim, SupportSet, expertqa, read_sets
from citewell.core.settings import CitationSettings
from citewell.generator.citations.support import holds_facts, rouge_1_precision
from citewell.generator.evaluation.judges.nli import load_nli
from citewell.retriever.cross_encoder.training.config import load_config
from tests.generator.evaluation.tiny import write_classifier

needs_data = pytest.mark.skipif(
    not os.environ.get("CITEWELL_DATA"), reason="CITEWELL_DATA does not name the folder of evaluation data"
)


@needs_data
def test_the_word_rule_does_not_fall_behind_its_pinned_floor() -> None:
    """On claims that experts judged: what is kept of those completely supported, and of the others."""
    claims = list(expertqa())
    threshold = CitationSettings().threshold

    def kept(supported: bool) -> float:
        found = [
            rouge_1_precision(each.claim, each.text) >= threshold and holds_facts(each.claim, each.text)
            for each in claims
            if each.supported is supported
        ]
        return sum(found) / len(found)

    assert sum(each.supported for each in claims) == 663
    assert kept(True) >= 0.48
    assert kept(False) <= 0.28


@needs_data
def test_no_claim_of_the_sets_was_trained_on() -> None:
    sets = read_sets(60)
    assert len(sets) == 16
    assert sum(each.trained for each in sets) == len(load_config(RECIPE).data)
    assert all(len({row.supported for row in each.rows}) == 2 for each in sets)
    again = read_sets(60)
    assert sets == again


def made_up(name: str, trained: bool, number: int = 200) -> tuple[SupportSet, dict[str, np.ndarray]]:
    """Claims whose reader is right most of the time, and whose words say nothing."""
    chance = np.random.default_rng(len(name))
    true = chance.random(number) < 0.3
    rows = tuple(JudgedClaim(f"Claim {place}.", "Text.", bool(each)) for place, each in enumerate(true))
    scores = {
        READER: np.where(true, 3.0, -1.0) + 2 * chance.standard_normal(number),
        WORDS: chance.random(number),
        FACTS: (chance.random(number) < 0.5).astype(float),
        "embedding": chance.random(number),
    }
    return SupportSet(name, rows, trained), scores


def test_a_reader_that_is_right_most_of_the_time_is_calibrated_on_other_kinds(tmp_path: Path) -> None:
    made = [made_up("first", True), made_up("another", True), made_up("unseen kind", False)]
    sets = [each for each, _ in made]
    scored = {each.name: scores for each, scores in made}
    found = measure_sets(sets, scored)
    for group in ("first", "unseen kind", "mean, other kinds"):
        reader, words = found[READER][group], found[WORDS][group]
        assert reader.balanced.low < reader.balanced.value < reader.balanced.high
        assert reader.balanced.low > 0.75 > words.balanced.high
        assert reader.area.value > 0.85
        assert reader.calibration_error is not None
        assert reader.calibration_error < 0.1
    assert found[RULE]["first"].calibration_error is None
    draw(plotted(sets, scored), tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000


def test_a_model_of_inference_is_measured_beside_the_others(tmp_path: Path) -> None:
    write_classifier(tmp_path, ["contradiction", "entailment"], favourite=1)
    made = [made_up(name, name != "unseen kind", 20) for name in ("first", "another", "unseen kind")]
    judged = check_by_inference([each for each, _ in made], load_nli(str(tmp_path)))
    assert all((of[NLI] > 0.5).all() for of in judged)
    scored = {
        each.name: {WORDS: scores[WORDS], FACTS: scores[FACTS], **of}
        for (each, scores), of in zip(made, judged, strict=True)
    }
    found = measure_sets([each for each, _ in made], scored)
    assert set(found) == {RULE, WORDS, NLI}
    assert found[NLI]["first"].balanced.value == 0.5, "it accepts every claim"


def test_both_labels_weigh_the_same_in_the_calibration() -> None:
    true = np.array([True] * 10 + [False] * 90)
    (only,) = bins(np.full(100, 0.55), true)
    assert (only.predicted, only.observed, only.share) == pytest.approx((0.55, 0.5, 1.0))
    assert calibration_error(np.where(true, 0.999, 0.001), true) < 0.01


def test_a_system_that_accepts_everything_has_a_balanced_accuracy_of_one_half() -> None:
    each, _ = made_up("first", True)
    number = len(each.rows)
    found = measured([each], [Verdicts(np.zeros(number), np.ones(number, dtype=np.bool_))])
    assert (found.balanced.value, found.area.value) == (0.5, 0.5)
