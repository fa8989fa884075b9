"""`citewell study` from outside: a study is made from files, listed, and reported."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nursery import Nursery

Study = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def study(nursery: Nursery, tmp_path: Path) -> Study:
    """Run `citewell study` with a data folder of its own."""
    variables = os.environ | {"CITEWELL_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return nursery.run("citewell.cli.main:main", "study", *arguments, env=variables, cwd=tmp_path)

    return run


def write(file: Path, *rows: object) -> str:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def test_a_study_is_made_listed_and_reported(study: Study, tmp_path: Path) -> None:
    assert "No studies yet" in study("list").stdout
    questions = [f"Why {number}?" for number in range(3)]
    journal = [
        {"generator": name, "key": question, "question": question, "error": ""}
        | {"sentences": [[f"As {name} says.", [1]]], "references": [{"text": "Passage.", "url": ""}]}
        for question in questions
        for name in ("extractive", "other")
    ]
    files = [
        write(tmp_path / "scores.answers.jsonl", *journal),
        write(tmp_path / "human.jsonl", *({"question": each, "answer": "So it is."} for each in questions)),
    ]
    answers = [{"system": "a", "text": "Right."}, {"system": "b", "text": "Wrong."}]
    item = {"question": "Which?", "answers": answers, "gold": {"comparison": {"overall": -1}}}
    gold = write(tmp_path / "gold.jsonl", item)
    options = (
        "--form",
        "webgpt",
        "--against",
        "human",
        "--gold",
        gold,
        "--screening",
        "1",
        "--name",
        "Three",
    )
    made = study("make", *files, *options, "--name", "Three")
    assert made.returncode == 0, made.stderr
    assert "7 items of extractive, human, other" in made.stderr
    id_ = made.stdout.strip()
    assert f"{id_}  Three: 7 items; webgpt" in study("list").stdout
    found = json.loads(study("report", id_, "--json").stdout)
    assert (found["systems"], found["baseline"]) == (["extractive", "human", "other"], "human")
    assert (found["items"], found["gold_items"], found["judgments"]) == (6, 1, 0)
    assert study("report", id_).stdout.startswith("# Three\n")
    assert "does not exist" in study("report", "none").stderr
    assert "There are no answers" in study("make", "--form", "turing").stderr
    without = write(tmp_path / "gold.jsonl", {"question": "Which?", "answers": answers})
    assert "items without `gold`" in study("make", *files, "--form", "webgpt", "--gold", without).stderr
