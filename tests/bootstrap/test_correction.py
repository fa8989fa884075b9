"""Citation correction and the filters, on an answer that cites rightly, wrongly and not at all."""

from __future__ import annotations

import pytest

from citewell.bootstrap.config import BootstrapConfig, CorrectionConfig
from citewell.bootstrap.correction import correct
from citewell.bootstrap.filters import reason_to_drop
from citewell.core.rouge import Rouge
from tests.bootstrap.teaching import GOOD, references

PLAIN = CorrectionConfig()


def test_a_segment_cites_what_it_overlaps_with_whatever_the_teacher_wrote() -> None:
    raw = (
        "The tides are caused by the gravity of the Moon and of the Sun[3]. Most coasts have two high tides "
        "and two low tides on each day[9]. Whales sing for hours under the sea[2]."
    )
    corrected = correct(raw, references(), PLAIN)
    assert corrected.answer == (
        "The tides are caused by the gravity of the Moon and of the Sun[1]. Most coasts have two high tides "
        "and two low tides on each day[2]. Whales sing for hours under the sea."
    )
    scores = corrected.scores
    assert (scores.segments, scores.marks, scores.right, scores.cited, scores.cited_segments) == (
        3,
        3,
        0,
        2,
        2,
    )
    assert scores.accuracy == 0.0
    assert scores.coverage == pytest.approx(2 / 3)


def test_marks_that_hold_are_kept_and_counted() -> None:
    corrected = correct(GOOD, references(), PLAIN)
    assert corrected.answer == GOOD
    assert corrected.scores.accuracy == 1.0
    assert corrected.scores.overlap > 0.9


def test_a_segment_may_cite_several_references() -> None:
    twice = references("Tides follow the Moon and the Sun.", "Tides follow the Moon, says the almanac.")
    assert correct("Tides follow the Moon.", twice, PLAIN).answer == "Tides follow the Moon[1][2]."


def test_the_papers_segments_end_at_marks_only() -> None:
    raw = "Whales sing for hours. The tides are caused by the gravity of the Moon[1]."
    by_marks = CorrectionConfig(segments="marks")
    assert correct(raw, references(), by_marks).scores.segments == 1
    assert correct(raw, references(), PLAIN).scores.segments == 2


def test_f1_asks_the_segment_to_cover_the_reference() -> None:
    raw = "The tides are caused by the gravity of the Moon."
    long = references(" ".join(r.text for r in references()))
    f1 = CorrectionConfig(share="f1")
    assert correct(raw, references(), f1).answer.endswith("[1].")
    assert correct(raw, long, PLAIN).answer.endswith("[1].")
    assert correct(raw, long, f1).answer == raw


def test_rouge_l_minds_the_order_of_words() -> None:
    swapped = references("Of each day, two low tides and two high tides most coasts have.")
    raw = "Most coasts have two high tides and two low tides of each day."
    assert correct(raw, swapped, PLAIN).scores.overlap == 1.0
    assert correct(raw, swapped, CorrectionConfig(measure=Rouge.ROUGE_L)).scores.overlap < 0.6


def test_thresholds_are_the_papers() -> None:
    assert PLAIN.least == 0.57
    assert CorrectionConfig(measure=Rouge.ROUGE_L).least == 0.4
    assert CorrectionConfig(threshold=0.7).least == 0.7


def test_chinese_is_measured_by_characters() -> None:
    (sky,) = references("天空是蓝色的，因为空气散射阳光。")
    assert correct("天空是蓝色的。", [sky], PLAIN).answer == "天空是蓝色的[1]。"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (GOOD, None),
        ("", "empty"),
        (" \n … ", "empty"),
        (f"<p>{GOOD}</p>", "markup"),
        (f"{GOOD}<|im_end|>", "markup"),
        (f"{GOOD}\nReference [6]: The Moon.", "markup"),
        ("By the Moon[1].", "short"),
        (
            "Whales sing because they are lonely, and people who listen to their songs at night often "
            "write that nothing else sounds quite like it, wherever they come from[1].",
            "hallucination",
        ),
        (GOOD.replace("[1]", "[9]").replace("[2]", "[9]"), "citation_accuracy"),
    ],
)
def test_the_first_filter_that_stops_an_answer_is_named(raw: str, reason: str | None) -> None:
    config = BootstrapConfig()
    scores = correct(raw, references(), config.correction).scores
    assert reason_to_drop(raw, scores, config) == reason


def test_an_answer_that_was_cut_is_dropped_unless_that_is_switched_off() -> None:
    scores = correct(GOOD, references(), PLAIN).scores
    assert reason_to_drop(GOOD, scores, BootstrapConfig(), truncated=True) == "truncated"
    lenient = BootstrapConfig.model_validate({"filters": {"truncated": False}})
    assert reason_to_drop(GOOD, scores, lenient, truncated=True) is None


def test_an_answer_that_cites_too_few_is_dropped() -> None:
    strict = BootstrapConfig.model_validate({"filters": {"cited": 3}})
    scores = correct(GOOD, references(), PLAIN).scores
    assert reason_to_drop(GOOD, scores, strict) == "few_citations"
    half = BootstrapConfig.model_validate({"filters": {"coverage": 0.8, "overlap": 0.1}})
    raw = f"{GOOD} Whales sing for hours under the sea."
    assert reason_to_drop(raw, correct(raw, references(), PLAIN).scores, half) == "few_citations"


def test_answers_without_any_mark_are_not_judged_by_their_marks() -> None:
    raw = GOOD.replace("[1]", "").replace("[2]", "")
    scores = correct(raw, references(), PLAIN).scores
    assert scores.accuracy is None
    assert reason_to_drop(raw, scores, BootstrapConfig()) is None
