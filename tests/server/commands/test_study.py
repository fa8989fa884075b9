"""`citewell study` from outside: a study is made from files, listed, and reported."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from citewell.server.store.address import store_url
from citewell.server.store.database import open_store
from tests.nursery import Nursery

Study = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def study(nursery: Nursery, tmp_path: Path) -> Study:
    """Run `citewell study` with a data folder of its own."""
    variables = os.environ | {"CITEWELL_DATA_DIR": str(tmp_path / "data")}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return nursery.run("citewell.cli.main:main", "study", *arguments, env=variables, cwd=tmp_path)

    return run


def test_reading_makes_no_database(study: Study, tmp_path: Path) -> None:
    usual = tmp_path / "data" / "citewell.sqlite3"
    listed = study("list")
    assert listed.returncode == 0, listed.stderr
    assert f"No studies yet, since the database {usual} does not exist." in listed.stdout
    named = f"sqlite:///{tmp_path / 'none.sqlite3'}"
    for command in (
        ["report", "s1"],
        ["make", "--history", "--form", "webgpt"],
        ["list", "--database", named],
        ["report", "s1", "--database", named],
        ["make", "--history", "--form", "webgpt", "--database", named],
    ):
        refused = study(*command)
        assert (refused.returncode, refused.stdout) == (2, ""), command
        assert "does not exist" in refused.stderr
    assert not list(tmp_path.rglob("*.sqlite3"))


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
    refused = study("make", *files, "--form", "webgpt", "--gold", without).stderr
    assert "gold.jsonl, line 1: the item has no `gold`." in refused


def test_what_makes_no_study_is_refused_and_nothing_is_stored(study: Study, tmp_path: Path) -> None:
    pairs = [
        {"question": f"Why {n}?", "system": system, "answer": f"{system} says so."}
        for n in range(3)
        for system in ("x", "y")
    ]
    file = write(tmp_path / "pairs.jsonl", *pairs)
    other = write(tmp_path / "human.jsonl", {"question": "How?", "answer": "So."})
    alone = write(tmp_path / "alone.jsonl", *pairs[::2])
    answers = [{"system": "a", "text": "Right."}, {"system": "b", "text": "Wrong."}]
    item = {"question": "Which?", "answers": answers, "gold": {"comparison": {"overall": -1}}}
    gold = write(tmp_path / "gold.jsonl", item)
    wrong = write(tmp_path / "wrong.jsonl", item, item | {"gold": {"comparison": {"beauty": 1}}})
    for options, said in (
        ((file, "--form", "webgpt", "--limit", "0"), "0 is not in the range"),
        ((file, "--form", "webgpt", "--limit", "-1"), "-1 is not in the range"),
        ((file, "--form", "webgpt", "--against", file), "The systems: x, y."),
        ((file, other, "--form", "webgpt", "--against", "human"), "No question has an answer of"),
        ((file, other, "--form", "minimal", "--against", "human"), "No question has an answer of"),
        ((file, other, "--form", "webgpt", "--against", "human", "--gold", gold), "No question has"),
        ((file, "--form", "turing", "--against", "x"), "The form turing has no pairs"),
        ((alone, "--form", "webgpt", "--gold", gold), "No question has enough answers"),
        ((file, "--form", "webgpt", "--gold", wrong), "wrong.jsonl, line 2: The form has no comparison by"),
        ((file, "--form", "webgpt", "--name", " "), "The study has no name."),
    ):
        refused = study("make", *options)
        assert (refused.returncode, refused.stdout) == (2, ""), options
        assert said in " ".join(refused.stderr.split()), options
    assert "No studies yet" in study("list").stdout


def test_questions_are_drawn_again_unless_there_is_a_seed(study: Study, tmp_path: Path) -> None:
    rows = [
        {"question": f"Why {number}?", "system": system, "answer": f"{system} says so."}
        for number in range(200)
        for system in ("x", "y")
    ]
    file = write(tmp_path / "pairs.jsonl", *rows)

    async def drawn(id_: str) -> set[str]:
        async with open_store(store_url("", tmp_path / "data")) as store:
            return {item.question for item in await store.studies.items(id_)}

    def questions(*seed: str) -> set[str]:
        made = study("make", file, "--form", "turing", "--limit", "5", *seed)
        assert made.returncode == 0, made.stderr
        return asyncio.run(drawn(made.stdout.strip()))

    assert questions() != questions()
    assert questions("--seed", "a") == questions("--seed", "a")
