from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.bootstrap.calibrate import ThresholdPoint, best_of, calibrate, draw, read_labels
from citewell.bootstrap.config import BootstrapConfig, FiltersConfig
from citewell.bootstrap.plots import draw_calibration
from citewell.bootstrap.types import Drop, Outcome
from citewell.core.errors import InputError
from tests.bootstrap.outcomes import SCORES, drop, fault, references

PASSAGE = (
    *("the", "gravity", "of", "the", "moon", "pulls", "on", "the", "water", "of", "the", "seas"),
    *("and", "makes", "two", "tides", "on", "each", "day", "of", "the", "year"),
)
CONFIG = BootstrapConfig(filters=FiltersConfig(words=1, coverage=0.0))


def answer(number: int, shared: int) -> Drop:
    """An answer of twenty words, of which so many are the passage's."""
    words = (*PASSAGE[:shared], *(f"other{number}x{n}" for n in range(20 - shared)))
    text = " ".join(words).capitalize() + "."
    return Drop(
        key=f"a{number}",
        question=f"Question {number}?",
        reason="hallucination",
        references=references(" ".join(PASSAGE)),
        teacher="t",
        prompt_hash="",
        raw_answer=text,
        scores=SCORES,
    )


OUTCOMES: list[Outcome] = [
    fault("f"),
    drop("e", "empty", scores=None, raw_answer=""),
    *(answer(number, number) for number in range(21)),
]
# Good is what has at least 14 of its 20 words from the passage.
LABELS = {f"a{number}": number >= 14 for number in range(21)}


def test_the_threshold_that_divides_good_from_bad_is_found() -> None:
    found = calibrate(OUTCOMES, LABELS, CONFIG)
    best = found.best
    assert (found.labeled, found.good) == (21, 7)
    assert (best.measure, best.share, best.f1) == ("rouge1", "precision", 1.0)
    assert 13 / 20 < best.threshold <= 14 / 20


def test_each_measure_and_share_has_a_curve_whose_recall_falls() -> None:
    found = calibrate(OUTCOMES, LABELS, CONFIG)
    assert {(curve[0].measure, curve[0].share) for curve in found.curves} == {
        (measure, share) for measure in ("rouge1", "rougeL") for share in ("precision", "f1")
    }
    for curve in found.curves:
        recalls = [point.recall for point in curve]
        assert recalls == sorted(recalls, reverse=True)
        assert recalls[0] == 1.0


def test_the_filters_in_force_are_measured_as_they_are() -> None:
    now = calibrate(OUTCOMES, LABELS, CONFIG).now
    assert now == ThresholdPoint("rouge1", "precision", 0.57, precision=7 / 9, recall=1.0, f1=7 / 8)


def test_of_equal_thresholds_the_middle_one_is_best() -> None:
    curve = [
        ThresholdPoint("rouge1", "f1", n / 10, 1.0, 1.0, f1) for n, f1 in enumerate([0.1, 0.9, 0.9, 0.9, 0.3])
    ]
    assert best_of(curve).threshold == 0.2


def test_the_table_ends_in_lines_for_a_recipe() -> None:
    found = calibrate(OUTCOMES, LABELS, CONFIG)
    assert found.table().endswith(
        f'[correction]\nmeasure = "rouge1"\nshare = "precision"\nthreshold = {found.best.threshold:g}'
    )
    assert json.loads(json.dumps(found.to_json()))["best"]["f1"] == 1.0


def test_the_curves_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    draw_calibration(calibrate(OUTCOMES, LABELS, CONFIG), tmp_path / "curves.svg")
    assert "<svg" in (tmp_path / "curves.svg").read_text(encoding="utf-8")


def test_what_is_drawn_to_label_can_be_labeled_and_given_back(tmp_path: Path) -> None:
    drawn = draw(OUTCOMES, 8)
    assert len(drawn) == 8
    assert drawn == draw(list(reversed(OUTCOMES)), 8)
    assert {row["id"] for row in drawn} <= set(LABELS)
    assert drawn[0]["references"] == {"[1]": " ".join(PASSAGE)}
    file = tmp_path / "labels.jsonl"
    rows = [{**row, "good": LABELS[row["id"]]} for row in draw(OUTCOMES, 21)]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert read_labels(file) == LABELS


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ('{"id": "a1", "good": null}', "line 1: the label is missing"),
        ('{"id": "a1", "good": true}\n{"good": true}', "line 2: the label is missing"),
        ('{"id": "a1", "good": true}\n{"id": "a1", "good": false}', "line 2: a1 is labeled twice"),
        ('{"id": "a1", "good": true}', "does not have both good and bad samples"),
    ],
)
def test_labels_that_cannot_be_used_are_named(tmp_path: Path, lines: str, problem: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=problem):
        read_labels(file)


def test_a_label_of_another_run_is_an_error() -> None:
    with pytest.raises(InputError, match="No answer of the run has the id z"):
        calibrate(OUTCOMES, {"a1": True, "z": False}, CONFIG)
