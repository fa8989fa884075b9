"""TREC runs and judgments: what is written is read again, and bad lines are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.retriever.evaluation.trec import ranked, read_qrels, read_run, write_qrels, write_run

RUN = {"q1": {"b": 0.5, "a": 0.5, "c": 7.25}, "q2": {"a": -1e-7}}


def test_a_run_is_written_in_trec_evals_order_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "run.txt"
    write_run(file, RUN, "mine")
    assert file.read_text() == (
        "q1 Q0 c 1 7.25 mine\nq1 Q0 b 2 0.5 mine\nq1 Q0 a 3 0.5 mine\nq2 Q0 a 1 -1e-07 mine\n"
    )
    assert read_run(file) == RUN
    packed = tmp_path / "run.txt.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read_run(packed, documents={"a", "b", "c"}) == RUN


def test_equal_scores_put_the_greater_id_first() -> None:
    assert ranked({"d9": 1.0, "d10": 1.0, "d2": 1.0, "d1": 2.0}) == ["d1", "d9", "d2", "d10"]


def test_judgments_are_read_in_both_forms(tmp_path: Path) -> None:
    qrels = {"q1": {"a": 2, "b": 0}, "q2": {"c": -1}}
    file = tmp_path / "qrels.txt"
    write_qrels(file, qrels)
    assert file.read_text() == "q1 0 a 2\nq1 0 b 0\nq2 0 c -1\n"
    assert read_qrels(file) == qrels
    file.write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tc\t-1\n")
    assert read_qrels(file) == qrels


@pytest.mark.parametrize("grade", ["high", "--5", "1.5", "-"])
def test_a_grade_that_is_no_whole_number_is_named_with_its_line(tmp_path: Path, grade: str) -> None:
    file = tmp_path / "qrels.txt"
    file.write_text(f"q1 0 a 2\nq1 0 b {grade}\n")
    with pytest.raises(InputError, match=f"line 2: the grade '{grade}' is not a whole number"):
        read_qrels(file)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1 Q0 b 2 nan mine", "line 2: the score of document 'b' is nan"),
        ("q1 Q0 b 2 inf mine", "line 2: the score of document 'b' is inf"),
        ("q1 Q0 b 2 high mine", "line 2: the score 'high' is not a number"),
        ("q1 Q0 a 2 0.5 mine", "line 2: query 'q1' has document 'a' twice"),
        ("q1 Q0 z 2 0.5 mine", "line 2: there is no document 'z' in the corpus"),
        ("q1 b 0.5", "line 2: a result of a run has 6 fields, this has 3"),
    ],
)
def test_bad_results_are_named_with_their_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "run.txt"
    file.write_text(f"q1 Q0 a 1 1.5 mine\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_run(file, documents={"a", "b"})


def test_a_file_without_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text("\n")
    with pytest.raises(InputError, match="holds no results"):
        read_run(tmp_path / "run.txt")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_run(tmp_path / "none.txt")
