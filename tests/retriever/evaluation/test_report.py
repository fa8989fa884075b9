"""What an evaluation says, in JSON, Markdown and plots."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.retriever.evaluation.evaluate import RankingResult, Speed
from citewell.retriever.evaluation.plots import draw
from citewell.retriever.evaluation.report import (
    RetrievalEvaluation,
    compared,
    details,
    details_file,
    markdown,
    summary,
)

VALUES = {
    "bm25": {"nDCG@10": {"q1": 0.5, "q2": 0.25, "q3": 0.0}, "MAP": {"q1": 0.5, "q2": 0.5, "q3": 0.0}},
    "mine": {"nDCG@10": {"q1": 1.0, "q2": 0.5, "q3": 0.25}, "MAP": {"q1": 0.5, "q2": 0.75, "q3": 0.0}},
}


def evaluation(*names: str) -> RetrievalEvaluation:
    speeds = {"bm25": Speed(1000, 0.5, 0.2, 0.4), "mine": None}
    outcomes = tuple(RankingResult(name, VALUES[name], {}, speeds[name]) for name in names)
    comparisons = compared(outcomes, names[0])
    return RetrievalEvaluation("notes", "corpus", 3, 1000, names[0], outcomes, comparisons, ("A notice.",))


def test_the_summary_holds_systems_and_measures_alone() -> None:
    assert json.loads(summary(evaluation("bm25", "mine"))) == {
        "bm25": {"nDCG@10": 0.25, "MAP": pytest.approx(1 / 3)},
        "mine": {"nDCG@10": pytest.approx(0.58333333), "MAP": pytest.approx(0.41666667)},
    }


def test_details_hold_each_question_and_each_comparison() -> None:
    found = json.loads(details(evaluation("bm25", "mine")))
    assert found["systems"]["mine"]["values"] == VALUES["mine"]
    assert found["systems"]["mine"]["speed"] is None
    assert found["systems"]["bm25"]["speed"]["passages_per_second"] == 2000
    assert found["comparisons"]["MAP"]["mine"]["better"] == 1
    assert found["notices"] == ["A notice."]
    assert details_file(Path("folder/scores.json")) == Path("folder/scores.details.json")


def test_tables() -> None:
    page = markdown(evaluation("bm25", "mine"))
    assert page.startswith("# notes: 3 questions, ranking all of 1,000 passages\n")
    assert "| bm25 | 0.2500 | 0.3333 | 2,000 | 0.2 | 0.4 |" in page
    assert "| mine | 0.5833 | 0.4167 |  |  |  |" in page
    assert "| mine | nDCG@10 | +0.3333 | " in page
    assert "A notice." in page
    assert "Differences" not in markdown(evaluation("bm25"))


def test_plots_are_images(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    assert [file.name for file in draw(evaluation("bm25"), tmp_path)] == ["quality_latency.png"]
    files = draw(evaluation("bm25", "mine"), tmp_path)
    assert [file.name for file in files] == ["quality_latency.png", "differences.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
