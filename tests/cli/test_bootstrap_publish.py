"""A published run: filtered where it lies, copied and gone on with, and refused for other questions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from citewell.bootstrap.folder import FinishedRun
from citewell.bootstrap.types import Sample
from tests.bootstrap.teaching import GOOD, PASSAGES

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def rows(number: int) -> str:
    asked = [
        {
            "id": n,
            "question": f"What causes tide {n}?",
            "references": PASSAGES,
            "answer": GOOD,
            "license": "CC BY 4.0",
        }
        for n in range(number)
    ]
    return "".join(json.dumps(row) + "\n" for row in asked)


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """The questions of a run that has answered the first three of five."""
    file = tmp_path / "questions.jsonl"
    file.write_text(rows(3))
    return file


def record(cli: Cli, questions: Path, out: Path) -> None:
    result = cli.run("bootstrap", "--questions", questions, "--teacher", "recorded", "--out", out)
    assert result.code == 0, result.err


def test_a_copy_of_a_published_run_goes_on_without_asking_again(
    cli: Cli, questions: Path, tmp_path: Path
) -> None:
    record(cli, questions, tmp_path / "run")
    questions.write_text(rows(5))
    result = cli.run(
        *("bootstrap", "publish", tmp_path / "run", "--questions", questions, "--out", tmp_path / "released")
    )
    assert result.code == 0, result.err
    released = tmp_path / "released"
    assert sorted(each.name for each in released.iterdir()) == [
        "dataset", "outcomes", "questions.jsonl.gz", "run.json",
    ]  # fmt: skip
    assert "| CC BY 4.0 | 3 |" in (released / "dataset" / "README.md").read_text("utf-8")
    before = {file: file.read_bytes() for file in released.rglob("*") if file.is_file()}

    again = cli.run(
        *("bootstrap", "refilter", released, "--out", tmp_path / "strict", "--set", "filters.words=99")
    )
    assert again.code == 0, again.err
    assert not any(isinstance(each, Sample) for each in FinishedRun(tmp_path / "strict").outcomes())

    copied = tmp_path / "copied"
    shutil.copytree(released, copied)
    result = cli.run(
        *("bootstrap", "--questions", copied / "questions.jsonl.gz"),
        *("--teacher", "recorded", "--out", copied),
    )
    assert result.code == 0, result.err
    assert "Resuming after 3 of 5 rows" in result.err
    assert [each.key for each in FinishedRun(copied).outcomes()] == ["0", "1", "2", "3", "4"]
    more = cli.run(
        *("bootstrap", "refilter", copied, "--out", tmp_path / "strict", "--set", "filters.words=99")
    )
    assert more.code == 0, more.err
    assert len(list(FinishedRun(tmp_path / "strict").outcomes())) == 5
    assert {file: file.read_bytes() for file in released.rglob("*") if file.is_file()} == before


def test_a_run_is_published_with_its_own_questions_and_into_a_folder_of_its_own(
    cli: Cli, questions: Path, tmp_path: Path
) -> None:
    record(cli, questions, tmp_path / "run")
    publish = ("bootstrap", "publish", tmp_path / "run", "--out", tmp_path / "released", "--questions")
    other = tmp_path / "other.jsonl"
    other.write_text('{"question": "Why?"}\n')
    result = cli.run(*publish, other)
    assert (result.code, "does not begin with the questions of the run" in result.err) == (2, True)
    (tmp_path / "released").mkdir()
    (tmp_path / "released" / "thesis.txt").touch()
    result = cli.run(*publish, questions)
    assert (result.code, "is not empty" in result.err) == (2, True)


def test_another_run_and_an_older_one_do_not_replace_what_was_published(
    cli: Cli, questions: Path, tmp_path: Path
) -> None:
    released = tmp_path / "released"
    record(cli, questions, tmp_path / "older")
    questions.write_text(rows(5))
    record(cli, questions, tmp_path / "run")
    publish = ("--questions", questions, "--out", released)
    assert cli.run("bootstrap", "publish", tmp_path / "run", *publish).code == 0
    for other in ("older", "strict"):
        if other == "strict":
            cli.run(
                *("bootstrap", "refilter", tmp_path / "run", "--out", tmp_path / other),
                "--set",
                "filters.words=99",
            )
        refused = cli.run("bootstrap", "publish", tmp_path / other, *publish)
        assert refused.code != 0
        assert "holds another run, or more answers than" in refused.err
    assert len(list(FinishedRun(released).outcomes())) == 5


def test_a_refiltered_run_keeps_its_name_and_license(cli: Cli, questions: Path, tmp_path: Path) -> None:
    named = ("--set", "dataset.name=Tides", "--set", "dataset.license=other: see below")
    result = cli.run(
        *("bootstrap", "--questions", questions, "--teacher", "recorded", "--out", tmp_path / "run"), *named
    )
    assert result.code == 0, result.err
    recipe = tmp_path / "filters.toml"
    recipe.write_text("[filters]\nwords = 5\n")
    again = cli.run(
        *("bootstrap", "refilter", tmp_path / "run", "--out", tmp_path / "again", "--recipe", recipe)
    )
    assert again.code == 0, again.err
    card = (tmp_path / "again" / "dataset" / "README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---")[1])
    assert (header["pretty_name"], header["license"]) == ("Tides", "other: see below")
