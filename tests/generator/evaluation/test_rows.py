"""Rows are read from lines of several forms; what is wrong is named by line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.generator.evaluation.rows import read_rows

ROW = {
    "question": "What is hot?",
    "references": ["The sun is hot.", {"text": "It is cold.", "title": "Moon"}],
}


def write(file: Path, *lines: object) -> Path:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_and_their_references(tmp_path: Path, name: str) -> None:
    more = {"question": "And?", "references": ["x"], "answerable": False, "source": "mine", "claims": None}
    full = ROW | {"answer": "The sun[1].", "claims": ["The sun is hot."]}
    rows = read_rows(write(tmp_path / name, full, more)).rows
    assert [(r.number, r.title, r.text) for r in rows[0].references] == [
        (1, "", "The sun is hot."),
        (2, "Moon", "It is cold."),
    ]
    assert (rows[0].answer, rows[0].claims, rows[0].answerable) == ("The sun[1].", ("The sun is hot.",), True)
    assert (rows[1].answerable, rows[1].source, rows[1].line) == (False, "mine", 2)


def test_a_key_changes_with_what_is_asked_only(tmp_path: Path) -> None:
    others = [ROW | {"answer": "x"}, ROW | {"question": "What is warm?"}, ROW | {"references": ["The sun."]}]
    keys = [read_rows(write(tmp_path / "rows.jsonl", row)).rows[0].key for row in [ROW, *others]]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3


def test_broken_lines_are_named_and_the_others_read(tmp_path: Path) -> None:
    broken = [
        "{",
        "[]",
        {"references": ["x"]},
        {"question": " ", "references": ["x"]},
        {"question": "a"},
        {"question": "a", "references": []},
        {"question": "a", "references": [7]},
        {"question": "a", "references": [{"title": "x"}]},
        ROW | {"claims": "one"},
        ROW | {"answerable": "no"},
        ROW,
    ]
    file = write(tmp_path / "rows.jsonl", ROW, *broken)
    rows = read_rows(file)
    assert len(rows.rows) == 1
    assert len(rows.problems) == len(broken)
    for number, problem in enumerate(rows.problems, 2):
        assert problem.startswith(f"{file}, line {number}: ")
    assert "this repeats line 1" in rows.problems[-1]


def test_bytes_that_are_no_text_spoil_their_line_only(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", ROW)
    half = json.dumps(ROW | {"question": "Half of a \ud83c?", "answer": "\udc00."})
    file.write_bytes(b'{"question": "caf\xe9?"}\n' + half.encode() + b"\n" + file.read_bytes())
    rows = read_rows(file)
    assert rows.problems == (f"{file}, line 1: not UTF-8.",)
    assert [(row.line, row.question, row.answer) for row in rows.rows] == [
        (2, "Half of a ??", "?."),
        (3, ROW["question"], ""),
    ]


def test_a_file_without_rows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no question with references\. .*line 1: not valid JSON"):
        read_rows(write(tmp_path / "rows.jsonl", "{"))
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "none.jsonl")


def test_a_limit_keeps_the_first_rows(tmp_path: Path) -> None:
    file = write(tmp_path / "rows.jsonl", *(ROW | {"question": f"What is {n}?"} for n in range(5)))
    assert [row.line for row in read_rows(file, limit=2).rows] == [1, 2]
