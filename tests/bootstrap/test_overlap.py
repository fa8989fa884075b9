from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.overlap import (
    EvaluationQuestion,
    EvaluationQuestions,
    QuestionOverlap,
    evaluation_files,
    find_overlaps,
    read_evaluation,
    read_evaluation_questions,
)
from citewell.core.errors import InputError
from tests.bootstrap.outcomes import HELD_OUT


def test_questions_of_evaluation_sets_are_named(tmp_path: Path) -> None:
    file = tmp_path / "eli5.jsonl.gz"
    rows = [
        {"id": "a", "question": "How do tides work?"},
        {"question": "Why is ice slippery?", "context": "I fell."},
    ]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    evaluation = list(read_evaluation_questions(file))
    assert evaluation == [
        EvaluationQuestion("eli5", "a", "How do tides work?"),
        EvaluationQuestion("eli5", "2", "Why is ice slippery?\n\nI fell."),
    ]
    mine = ["why is ice so slippery", "Who was the first king of Poland?", "How do tides work"]
    assert find_overlaps(mine, evaluation, 0.6) == {
        0: QuestionOverlap(evaluation[1], 1.0),
        2: QuestionOverlap(evaluation[0], 1.0),
    }


def test_patterns_name_files_once_and_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.txt"):
        (tmp_path / name).touch()
    found = evaluation_files(tmp_path, ("*.jsonl", "a.*", "c.txt"), "held_sets", missing_ok=False)
    assert [file.name for file in found] == ["a.jsonl", "b.jsonl", "c.txt"]


def test_a_pattern_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"named questions/\*\.jsonl") as caught:
        evaluation_files(tmp_path, ("questions/*.jsonl",), "held_sets", missing_ok=False)
    assert "dataset.held_sets" in caught.value.hint
    assert evaluation_files(tmp_path, ("questions/*.jsonl",), "held_sets", missing_ok=True) == []


@pytest.mark.parametrize("pattern", ["/data/*.jsonl", ""])
def test_a_pattern_that_is_none_is_an_error(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(InputError, match="No evaluation set in"):
        evaluation_files(tmp_path, (pattern,), "evaluation_sets", missing_ok=False)


def test_of_some_sets_only_what_is_held_out_is_kept_apart(tmp_path: Path) -> None:
    (tmp_path / "whole.jsonl").write_text(json.dumps({"question": "Why?"}) + "\n")
    lines = [{"question": HELD_OUT}, {"question": "Who learns from this?"}]
    (tmp_path / "half.jsonl").write_text("\n".join(map(json.dumps, lines)))
    config = DatasetConfig(evaluation_sets="whole.jsonl", held_sets=("half.jsonl",))
    found = read_evaluation(tmp_path, config)
    assert [each.question for each in found.questions] == ["Why?", HELD_OUT]
    assert (found.sets, found.held_out) == ({"whole": 1}, {"half": 1})


def test_the_usual_sets_may_be_missing_but_not_others(tmp_path: Path) -> None:
    assert (
        read_evaluation(tmp_path, DatasetConfig())
        == read_evaluation(None, DatasetConfig())
        == EvaluationQuestions()
    )
    config = DatasetConfig(held_sets=("mine.jsonl",))
    with pytest.raises(InputError, match=r"is named mine\.jsonl"):
        read_evaluation(tmp_path, config)
    with pytest.raises(InputError, match="no folder of data") as caught:
        read_evaluation(None, config)
    assert "CITEWELL_DATA" in caught.value.hint


def test_a_row_without_a_question_is_an_error_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text('{"question": "Why?"}\n{"prompt": "Why?"}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 2: the row has no question"):
        list(read_evaluation_questions(file))
