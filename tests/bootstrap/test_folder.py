"""The folder of a run: what is gone on with, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from citewell.bootstrap.config import QuestionsConfig
from citewell.bootstrap.folder import PROBLEMS, RunFolder, Survey
from citewell.bootstrap.questions import Questions
from citewell.core.errors import InputError
from tests.bootstrap.outcomes import drop

STARTED = {"teacher": "recorded", "recipe": {"filters": {"words": 20}}}


def questions(folder: Path, *rows: str) -> Questions:
    file = folder / "questions.txt"
    file.write_text("\n".join(rows))
    return Questions(file, QuestionsConfig())


def begin(run: RunFolder, asked: Questions, done: int, started: dict[str, Any] = STARTED) -> Survey:
    survey = run.survey(asked, started)
    with run.writing(survey, started):
        run.journal.append(
            [drop(task.key, "short") for task, _ in zip(run.left(asked), range(done), strict=False)]
        )
    return run.survey(asked, started)


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    asked = questions(tmp_path, "Why a?", "{broken", "Why b?", "Why c?")
    assert begin(run, asked, 2)[:1] == (3,)
    survey = run.survey(asked, STARTED)
    assert (survey.tasks, survey.done) == (3, 2)
    assert [task.question for task in run.left(asked)] == ["Why c?"]
    (problem,) = (run.path / PROBLEMS).read_text().splitlines()
    assert json.loads(problem)["line"] == 2


def test_questions_may_be_added_at_the_end_only(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    begin(run, questions(tmp_path, "Why a?", "Why b?"), 1)
    longer = questions(tmp_path, "Why a?", "Why b?", "Why c?")
    assert begin(run, longer, 2).done == 3
    for others in (["Why a?"], ["Why b?", "Why a?", "Why c?"], ["Why a?", "Why b?", "How d?"]):
        with pytest.raises(InputError, match="does not begin with the questions"):
            run.survey(questions(tmp_path, *others), STARTED)


def test_changed_references_are_other_questions(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    begin(run, questions(tmp_path, '{"question": "Why?", "references": ["a"]}'), 1)
    with pytest.raises(InputError, match="does not begin with"):
        run.survey(questions(tmp_path, '{"question": "Why?", "references": ["b"]}'), STARTED)


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    asked = questions(tmp_path, "Why?")
    begin(run, asked, 1)
    other = {"teacher": "recorded", "recipe": {"filters": {"words": 30}}}
    with pytest.raises(InputError, match=r"different value of recipe\.filters\.words"):
        run.survey(asked, other)


def test_a_run_that_ended_before_its_first_outcome_may_be_started_otherwise(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    begin(run, questions(tmp_path, "Why?", "{"), 0)
    assert run.survey(questions(tmp_path, "How?"), {"teacher": "another"}).done == 0
    shutil.rmtree(run.path)
    run.path.mkdir()
    (run.path / "lock").touch()
    assert begin(run, questions(tmp_path, "How?"), 1).done == 1


def test_rows_that_are_kept_ahead_are_of_the_same_run(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    asked = questions(tmp_path, "Why a?", "Why b?")
    begin(run, asked, 0)
    run.ahead.keep(drop("b", "short"))
    with pytest.raises(InputError, match="was started with a different value of"):
        run.survey(asked, {**STARTED, "teacher": "self"})
    with pytest.raises(InputError, match="does not begin with the questions"):
        run.survey(questions(tmp_path, "Why b?", "Why a?"), STARTED)
    assert begin(run, questions(tmp_path, "Why a?", "Why b?"), 2).done == 2


def test_a_run_whose_beginning_is_damaged(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    asked = questions(tmp_path, "Why?")
    begin(run, asked, 1)
    (run.path / "run.json").write_text("")
    with pytest.raises(InputError, match=r"run\.json, which says"):
        run.survey(asked, STARTED)


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("words")
    with pytest.raises(InputError, match="is not the folder of a bootstrap"):
        RunFolder(tmp_path, 2).survey(questions(tmp_path, "Why?"), STARTED)


def test_a_file_without_any_question(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Line 1: it is not JSON"):
        RunFolder(tmp_path / "run", 2).survey(questions(tmp_path, "{"), STARTED)


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", 2)
    asked = questions(tmp_path, "Why?")
    survey = run.survey(asked, STARTED)
    with (
        run.writing(survey, STARTED),
        pytest.raises(InputError, match="Another process"),
        RunFolder(tmp_path / "run", 2).writing(survey, STARTED),
    ):
        pass
