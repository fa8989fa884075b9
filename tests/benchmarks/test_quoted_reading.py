"""The reading of quoted answers draws the same questions each time, and asks a program as people run it."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.quoted_reading import DRAWN, Program, answer, drawn

WHICH = {"collection": "own", "question": "How many minutes at 42 for a Lund strain?", "fact": "25 minutes."}


@pytest.mark.skipif(
    not os.environ.get("CITEWELL_DATA"), reason="CITEWELL_DATA does not name the folder of evaluation data"
)
def test_a_hundred_questions_are_drawn_the_same_each_time() -> None:
    questions = drawn()
    assert questions == drawn()
    assert Counter(one["collection"] for one in questions) == {"wikispeedia": 60, "pages": 20, "own": 20}
    assert Counter(one["kind"] for one in questions) == DRAWN
    assert len({one["question"] for one in questions}) == 100


def test_a_version_is_asked_once_by_its_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = Program(Path(sys.executable).parent / "citewell", tmp_path / "data")
    file = tmp_path / "answers.jsonl"
    for _ in range(2):
        answer("now", program, [WHICH], file)
    [row] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert (row["writer"], row["outcome"]) == ("now", "answered")
    assert "get 25. [1]" in row["answer"]
    assert "Lund" in row["references"][0]["text"]
    assert capsys.readouterr().out == "now: 1 of 1\n"


def test_a_program_that_fails_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "citewell"
    broken.write_text("#!/bin/sh\necho no disk >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(SystemExit, match=r"index .* ended with 3:\nno disk"):
        answer("old", Program(broken, tmp_path), [WHICH], tmp_path / "answers.jsonl")
