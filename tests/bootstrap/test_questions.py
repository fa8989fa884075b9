"""Every kind of line that a questions file may hold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from citewell.bootstrap.config import QuestionsConfig
from citewell.bootstrap.questions import LineProblem, Questions
from citewell.bootstrap.types import BootstrapTask
from citewell.core.errors import InputError


def read(folder: Path, *rows: Any, **config: Any) -> tuple[list[BootstrapTask], list[LineProblem]]:
    lines = [
        row if isinstance(row, bytes) else (row if isinstance(row, str) else json.dumps(row)).encode()
        for row in rows
    ]
    file = folder / "questions.jsonl"
    file.write_bytes(b"\n".join(lines))
    return read_file(file, **config)


def read_file(file: Path, **config: Any) -> tuple[list[BootstrapTask], list[LineProblem]]:
    problems: list[LineProblem] = []
    return list(Questions(file, QuestionsConfig(**config)).tasks(problems.append)), problems


def test_a_row_with_all_fields(tmp_path: Path) -> None:
    row = {
        "id": 7,
        "question": "Why is the sky blue?",
        "answer": "It scatters [3].",
        "references": ["First.", {"text": "Third.", "title": "Sky", "url": "https://s.example", "n": 3}],
    }
    (task,), problems = read(tmp_path, row)
    assert not problems
    assert (task.key, task.line, task.question, task.answer) == ("7", 1, row["question"], "It scatters [3].")
    assert task.references is not None
    assert [(r.number, r.url, r.title, r.text) for r in task.references] == [
        (1, "", "", "First."),
        (3, "https://s.example", "Sky", "Third."),
    ]


def test_plain_lines_and_blank_lines(tmp_path: Path) -> None:
    tasks, problems = read(tmp_path, "Why is the sky blue?", "", "gravity")
    assert not problems
    assert [(task.line, task.question) for task in tasks] == [
        (1, "Why is the sky blue?"),
        (3, "Explain: gravity"),
    ]
    assert all(task.references is None and task.answer is None for task in tasks)
    assert len({task.key for task in tasks}) == 2


def test_a_row_of_eli5(tmp_path: Path) -> None:
    row = {
        "q_id": "1oy5tc",
        "title": "Why is _URL_0_ blue?",
        "selftext": "[removed]",
        "title_urls": {"url": ["https://sky.example"]},
    }
    (task,), _ = read(tmp_path, row)
    assert (task.key, task.question) == ("1oy5tc", "Why is https://sky.example blue?")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"question": "Why', "it is not JSON"),
        ('{"id": 3}', "it has no `question`"),
        ({"question": 3}, "its `question` is not a text"),
        ({"question": "  "}, "its question is empty"),
        ("[", "its question has no letter or digit"),
        ({"title": "[deleted by user]"}, "its author deleted it"),
        ({"question": "w" * 10_000 + "?"}, "its question has 10,001 characters"),
        ({"question": "Why?", "references": "none"}, "its `references` are not a list"),
        ({"question": "Why?", "references": [3]}, "its reference 1 is neither text nor an object"),
        ({"question": "Why?", "references": [{"text": "a", "n": 2}, "b"]}, "have the same number"),
        (b"Why \xff?", "it is not UTF-8"),
        ("what is first?", "it asks the same as line 1"),
        ("[" * 100_000, None),
    ],
)
def test_a_line_that_gives_no_task_is_told_and_the_others_are_read(
    tmp_path: Path, line: Any, problem: str | None
) -> None:
    tasks, problems = read(tmp_path, "What is first?", line, "What is last?")
    assert [task.line for task in tasks] == [1, 3]
    ((number, told),) = problems
    assert number == 2
    assert (problem or "100,0") in told


def test_different_questions_with_one_id_get_different_keys(tmp_path: Path) -> None:
    tasks, problems = read(tmp_path, {"id": "a", "question": "Why?"}, {"id": "a", "question": "How?"})
    assert not problems
    assert tasks[0].key == "a"
    assert tasks[1].key != "a"


def test_references_without_text_are_passed_over(tmp_path: Path) -> None:
    tasks, _ = read(
        tmp_path,
        {"question": "Why?", "references": [{"text": None, "n": 1}, {"text": "b", "n": 2}]},
        {"question": "How?", "references": [{"text": ""}]},
        {"question": "When?", "references": []},
    )
    assert tasks[0].references is not None
    assert [r.number for r in tasks[0].references] == [2]
    assert tasks[1].references is None
    assert tasks[2].references is None


def test_a_compressed_file_that_is_cut_short_gives_what_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl.gz"
    text = "".join(f"Why is number {n} {hash(str(n))}?\n" for n in range(5000))
    file.write_bytes(gzip.compress(text.encode())[:-3000])
    tasks, problems = read_file(file)
    assert 0 < len(tasks) < 5000
    assert "the compressed file is damaged" in problems[-1].problem
    left = Questions(file, QuestionsConfig()).content()
    assert text.encode().startswith(left)
    assert left.count(b"\n") == len(tasks)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Questions(Path("nowhere.jsonl"), QuestionsConfig())
