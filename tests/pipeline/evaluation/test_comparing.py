"""Two runs, or two evaluations, that were kept in files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.pipeline.evaluation.comparing import compare_files
from citewell.retriever.evaluation.evaluate import RankingResult
from citewell.retriever.evaluation.report import RetrievalEvaluation, compared, details, summary


def keep(file: Path, **systems: dict[str, float]) -> Path:
    """Keep an evaluation of systems, each with its values of one measure, as the command does."""
    outcomes = tuple(RankingResult(name, {"MAP": values}, {}) for name, values in systems.items())
    base = outcomes[0].name
    found = RetrievalEvaluation("notes", "corpus", 2, 5, base, outcomes, compared(outcomes, base), ())
    file.write_text(summary(found))
    file.with_suffix(".details.json").write_text(details(found))
    return file


LOW, HIGH = {"q1": 0.25, "q2": 0.5}, {"q1": 0.75, "q2": 0.5}


def test_two_runs_with_judgments_beside_them(tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    first.write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 a 1 1 x\n")
    second.write_text("q1 Q0 a 1 2 x\n")
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq2 0 a 2\n")
    found = compare_files(first, second, None, 1)
    assert found.means["second - first"]["MRR@10"] == (0.75, 0.5)
    assert found.comparisons["MRR@10"]["second - first"].difference == -0.25
    assert "| second - first | MRR@10 | -0.2500 |" in found.table()
    strict = compare_files(first, second, None, 2)
    assert strict.means["second - first"]["MRR@10"] == (0.5, 0)
    (tmp_path / "other.txt").write_text("q1 0 b 1\n")
    other = compare_files(first, second, tmp_path / "other.txt", 1)
    assert other.means["second - first"]["MRR@10"] == (1, 0)


def test_evaluations_are_compared_system_by_system(tmp_path: Path) -> None:
    before = keep(tmp_path / "before.json", bm25=LOW, mine=LOW)
    after = keep(tmp_path / "after.json", mine=HIGH, bm25=LOW, third=LOW)
    found = compare_files(before, after, None, 1)
    assert {name: each.difference for name, each in found.comparisons["MAP"].items()} == {
        "bm25": 0,
        "mine": 0.25,
    }
    assert found.to_json()["mine"]["MAP"]["b"] == 0.625
    assert compare_files(before.with_suffix(".details.json"), after, None, 1) == found


def test_two_evaluations_of_one_system_each(tmp_path: Path) -> None:
    before, after = keep(tmp_path / "a.json", mine=LOW), keep(tmp_path / "b.json", tuned=HIGH)
    assert compare_files(before, after, None, 1).comparisons["MAP"]["tuned - mine"].better == 1


def test_evaluations_of_other_commands(tmp_path: Path) -> None:
    """Generation has values by judge, and a measure that an empty answer lacks."""
    for name, recall, loss in (("a", LOW, {"q1": 2.0, "q2": 3.0}), ("b", HIGH, {"q1": 1.0})):
        values = {"mine": {"embedding": {"recall": recall}, "text": {"loss": loss, "words": LOW}}}
        (tmp_path / f"{name}.details.json").write_text(json.dumps({"values": values}))
    found = compare_files(tmp_path / "a.json", tmp_path / "b.json", None, 1)
    assert found.comparisons["recall (embedding)"]["mine"].difference == 0.25
    assert found.means["mine"]["loss (text)"] == (2.0, 1.0)
    assert found.comparisons["loss (text)"]["mine"].queries == 1

    for name, values in (("a", LOW), ("b", HIGH)):
        (tmp_path / f"{name}.details.json").write_text(json.dumps({"values": {"mine": {"accuracy": values}}}))
    scorers = compare_files(tmp_path / "a.json", tmp_path / "b.json", None, 1)
    assert scorers.comparisons["accuracy"]["mine"].better == 1


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "null", '"0.5"'])
def test_a_value_that_is_no_finite_number_is_named(tmp_path: Path, value: str) -> None:
    scores, broken = keep(tmp_path / "a.json", mine=LOW), tmp_path / "b.json"
    kept = tmp_path / "b.details.json"
    for found in (
        f'{{"systems": {{"mine": {{"values": {{"MAP": {{"q1": 0.5, "q2": {value}}}}}}}}}}}',
        f'{{"values": {{"mine": {{"MAP": {{"q1": 0.5, "q2": {value}}}}}}}}}',
        f'{{"values": {{"mine": {{"text": {{"MAP": {{"q1": 0.5, "q2": {value}}}}}}}}}}}',
    ):
        kept.write_text(found)
        for pair in ((scores, broken), (broken, scores)):
            with pytest.raises(InputError, match=r"b\.details\.json: the MAP.* of mine for question 'q2' is"):
                compare_files(*pair, None, 1)


def test_files_that_cannot_be_compared(tmp_path: Path) -> None:
    run = tmp_path / "run.txt"
    run.write_text("q1 Q0 bats 1 2 x\n")
    scores = keep(tmp_path / "a.json", mine=LOW, bm25=LOW)
    with pytest.raises(InputError, match="are of two kinds"):
        compare_files(run, scores, None, 1)
    with pytest.raises(InputError, match="There are no judgments"):
        compare_files(run, run, None, 1)
    (tmp_path / "qrels.txt").write_text("q9 0 bats 1\n")
    with pytest.raises(InputError, match="has none of the queries of"):
        compare_files(run, run, None, 1)
    with pytest.raises(InputError, match="have no system in common"):
        compare_files(scores, keep(tmp_path / "b.json", one=LOW, two=LOW), None, 1)
    with pytest.raises(InputError, match="are not of the same questions"):
        compare_files(scores, keep(tmp_path / "c.json", mine={"q1": 0.5}, bm25={"q1": 0.5}), None, 1)
    (tmp_path / "c.details.json").write_text("[]")
    with pytest.raises(InputError, match="is not an evaluation"):
        compare_files(scores, tmp_path / "c.json", None, 1)
    (tmp_path / "c.details.json").unlink()
    with pytest.raises(InputError, match=r"c\.details\.json, which holds the value of each question, cannot"):
        compare_files(scores, tmp_path / "c.json", None, 1)
