"""`citewell retrieve`: references for one question, and for a file of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

NOTES = ("--collection", "notes")
KEYS = ["question", "outcome", "references", "failures", "notices", "timings", "models"]


def test_single_question_lists_its_references(cli: Cli) -> None:
    code, out, err = cli.run("retrieve", "What causes the tides?", "--k", "2", *NOTES)
    assert (code, err) == (0, "")
    first, text, *_ = out.split("\n")
    assert first.startswith("[1] 0.")
    assert first.endswith("/tides.md")
    assert "The tides are caused by the gravity of the Moon" in text
    assert "[3]" not in out


def test_file_of_questions_gives_one_object_a_line_in_order(cli: Cli, tmp_path: Path) -> None:
    lines = [
        "\ufeffWhat causes the tides?",
        "",
        json.dumps({"question": "Why does sourdough bread rise?", "id": "bread"}),
        '{"question": "broken',
        json.dumps({"id": 4, "text": "no question"}),
        json.dumps({"question": "  ", "id": 5}),
        json.dumps({"question": "How high is the rent of a flat at the coast?", "id": None}),
        json.dumps({"question": "Bats\u2028in the dark?", "id": ["\ud800"]}, ensure_ascii=True),
        '{"question": "Honey\u2028from bees?"}',
        json.dumps({"question": "a" * 5000, "id": 9}),
        "How is glass made?",
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\r\n".join(lines), encoding="utf-8", newline="")
    code, _, err = result = cli.run("retrieve", "--questions", file, *NOTES)
    rows = result.objects()
    assert (code, err) == (1, "")
    assert [row.get("id") for row in rows] == [None, "bread", None, 4, 5, None, ["\ud800"], None, 9, None]
    assert [row["question"] for row in rows[:3]] == [
        "What causes the tides?",
        "Why does sourdough bread rise?",
        None,
    ]
    assert rows[7]["question"] == "Honey\u2028from bees?"
    failed = [2, 3, 4, 8]
    for number, row in enumerate(rows):
        keys = [key for key in row if key != "id"]
        assert keys == (["question", "error"] if number in failed else KEYS), row
    assert f"{file}:4 is not valid JSON" in rows[2]["error"]
    assert f"{file}:5 has no `question`" in rows[3]["error"]
    assert "empty" in rows[4]["error"]
    assert rows[5]["outcome"] == "no_evidence"
    assert "5,000 characters" in rows[8]["error"]
    best = [rows[number]["references"][0]["title"] for number in (0, 1, 6, 7, 9)]
    assert best == ["Tides", "Sourdough bread", "How bats find their way", "Honey", "Glass"]


def test_either_a_question_or_a_file_is_needed(cli: Cli, tmp_path: Path) -> None:
    for arguments in ((), ("What?", "--questions", tmp_path / "q.txt")):
        code, out, err = cli.run("retrieve", *arguments)
        assert (code, out) == (2, "")
        assert "either QUESTION or --questions FILE" in err


def test_passages_without_evidence_are_said_to_be_that(cli: Cli) -> None:
    code, out, _ = cli.run("retrieve", "zzzzqqqq", *NOTES)
    assert code == 0
    assert out.startswith("No evidence for an answer was found.\n")
