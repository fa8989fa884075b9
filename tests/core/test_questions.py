"""Questions with accepted answers, as their files have them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.core.questions import AnsweredQuestion, read_questions

FORMS = {
    "a list": {"answers": ["a", "b"]},
    "one text": {"answer": "a"},
    "a list under answer": {"answer": ["a", "b"]},
    "TriviaQA": {"answer": {"value": "a", "aliases": ["b", "a"], "type": "WikipediaEntity"}},
}


@pytest.mark.parametrize("accepted", FORMS.values(), ids=FORMS)
def test_answers_are_read_in_the_forms_of_public_sets(tmp_path: Path, accepted: object) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "q", "origin": "o"} | dict(accepted)) + "\n")  # type: ignore[call-overload]
    (found,) = read_questions(file)
    assert found.question == "q"
    assert found.answers in (("a",), ("a", "b"))


def test_the_first_questions_are_read_and_a_repeated_one_once(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [("q", "a"), ("r", "b"), ("q", "c"), ("s", "d")]
    file.write_text("\n".join(json.dumps({"question": q, "answers": [a]}) for q, a in rows))
    first = AnsweredQuestion("q", ("a",))
    assert read_questions(file, 1) == (first,)
    assert read_questions(file, 3) == (first, AnsweredQuestion("r", ("b",)))
    assert len(read_questions(file)) == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no questions"),
        ("no json\n", "line 1: not a valid question"),
        ('\n{"answers": ["a"]}\n', "line 2: not a valid question: .*`question`"),
        ('{"question": "q", "answers": [1]}\n', "line 1: not a valid question"),
        ('{"question": "q"}\n', "line 1: the question has no accepted answer"),
        ('{"question": " ", "answers": ["a"]}\n', "line 1: the question is empty"),
    ],
)
def test_a_file_without_questions_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=problem):
        read_questions(file)
