from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from citewell.core.errors import InputError
from citewell.scorer.data.config import ReadingConfig
from citewell.scorer.data.reading import read_comparisons, read_voted
from citewell.scorer.data.report import report
from citewell.scorer.data.source_line import group_of
from tests.scorer.data.files import ALL, answers, rule, write

GOOD = {"question": "Why is the sky blue?", "answers": answers(("Because of scattering.", 9), ("Paint.", 1))}


def test_a_file_of_votes_becomes_comparisons_by_question(tmp_path: Path) -> None:
    rows = [GOOD | {"license": "CC0"}, {"question": "Why?", "answers": answers(("a", 1), ("b", 2), ("c", 3))}]
    data = read_comparisons(write(tmp_path, rows, "forum.jsonl.gz"), ALL)
    assert [(group.question, len(group.comparisons)) for group in data.groups] == [
        ("Why is the sky blue?", 1),
        ("Why?", 3),
    ]
    assert {each.source for each in data.comparisons} == {"forum"}
    assert data.licenses == {"CC0": 1, "unknown": 1}
    assert data.voted[0].license == "CC0"
    assert not data.problems


def test_a_license_of_the_settings_is_that_of_rows_that_name_none(tmp_path: Path) -> None:
    config = ALL.model_copy(update={"license": "MIT"})
    assert read_comparisons(write(tmp_path, [GOOD]), config).licenses == {"MIT": 1}


def test_rows_of_the_same_question_are_one_group(tmp_path: Path) -> None:
    again = {"question": "why is  the sky blue?", "chosen": "Scattering.", "rejected": "The sea."}
    data = read_comparisons(write(tmp_path, [GOOD, again]), ALL)
    assert [len(group.comparisons) for group in data.groups] == [2]


@pytest.mark.parametrize(
    ("row", "kind", "told"),
    [
        ("{", "no_json", "not valid JSON"),
        ("[1]", "no_json", "not a JSON object"),
        ({"text": "x"}, "no_format", "text"),
        ({"question": "Why?", "answers": answers(("a", float("nan")), ("b", 2))}, "no_number", "nan"),
        ({"question": "Why?", "answers": answers(("a", None), ("b", 2))}, "no_number", "missing"),
        ({"question": "Why?", "answers": answers(("a", "7"), ("b", 2))}, "no_number", "7"),
        ({"question": "Why?", "answers": answers(("a", float("inf")), ("b", 2))}, "no_number", "inf"),
        ({"question": "Why?", "answers": answers(("a", 10**400), ("b", 2))}, "no_number", "1000"),
        ({"question": "Why?", "answers": answers(("a", True), ("b", 2))}, "no_number", "True"),
        ({"question": "Why?", "answers": [{"text": "a"}, {"text": "b"}]}, "no_number", "missing"),
        ({"question": "Why?", "answers": answers(("a", 1))}, "one_answer", "nothing to compare"),
        ({"question": "Why?", "answers": []}, "no_answer", "no answer"),
        ({"question": "Why?", "answers": "a"}, "no_answers", "neither"),
        ({"question": "Why?", "answers": {"text": ["a", "b"], "score": [1]}}, "no_answers", "neither"),
        ({"question": "Why?", "answers": answers(("same", 1), ("same ", 2))}, "identical", "twice"),
        ({"question": "Why?", "answers": answers(("[deleted]", 1), ("b", 2))}, "empty", "deleted"),
        ({"question": "Why?", "answers": answers((" ", 1), ("b", 2))}, "empty", "empty"),
        ({"question": None, "answers": answers(("a", 1), ("b", 2))}, "no_text", "question"),
        ({"question": "Why?", "chosen": "same", "rejected": "same"}, "identical", "same"),
    ],
)
def test_a_bad_line_is_told_and_the_good_one_is_read(
    tmp_path: Path, row: object, kind: str, told: str
) -> None:
    data = read_comparisons(write(tmp_path, [row, GOOD]), ALL)
    assert [group.question for group in data.groups] == [GOOD["question"]]
    assert data.funnel["lines with problems"] == 1
    problem = next(each for each in data.problems if each.kind == kind)
    assert problem.where.endswith("rows.jsonl, line 1")
    assert told in problem.what


def test_a_million_characters_are_cut_and_told(tmp_path: Path) -> None:
    row = {"question": "Why?", "answers": answers(("word " * 200_000, 5), ("a", 1))}
    data = read_comparisons(write(tmp_path, [row]), ALL)
    assert max(len(each.first) for each in data.comparisons) < 20_001
    assert "1,000,000 characters" not in str(data.problems[0])  # without the space at its end
    assert "999,999 characters" in str(data.problems[0])


def test_answers_in_other_scripts_and_what_cannot_be_encoded(tmp_path: Path) -> None:
    given = answers(("Рассеяние света", 3), ("瑞利散射", 2), ("a\ud800b\0", 1))
    data = read_comparisons(write(tmp_path, [{"question": "لماذا السماء زرقاء؟", "answers": given}]), ALL)
    texts = {each.first for each in data.comparisons} | {each.second for each in data.comparisons}
    assert texts == {"Рассеяние света", "瑞利散射", "a?b"}


@pytest.mark.parametrize("name", ["question", "body", "license", "rater"])
def test_what_cannot_be_encoded_is_replaced_in_every_field(tmp_path: Path, name: str) -> None:
    row = {"question": "Why?", "answers": ["a", "b"], "preferred": 0} | {name: "a\ud800b\0"}
    data = read_comparisons(write(tmp_path, [row]), ALL)
    (group,) = data.groups
    assert "a?b" in (*group.question.split("\n\n"), group.license, group.comparisons[0].rater)
    assert group.key == group_of(group.question)


def test_rows_of_eli5_have_titles_bodies_and_two_lists(tmp_path: Path) -> None:
    row = {
        "q_id": "1",
        "title": "Why is the sky blue?",
        "selftext": "It is black at night.",
        "answers": {"a_id": ["a", "b"], "text": ["Scattering.", "Paint."], "score": [5, 2]},
    }
    data = read_comparisons(write(tmp_path, [row]), ALL)
    assert data.groups[0].question == "Why is the sky blue?\n\nIt is black at night."
    assert data.comparisons[0].first == "Scattering."
    without = read_comparisons(write(tmp_path, [row]), ALL.model_copy(update={"body_chars": 0}))
    assert without.groups[0].question == "Why is the sky blue?"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("{}\n", "no comparison"),
        ("nonsense\n", "not valid JSON"),
    ],
)
def test_a_file_in_which_nothing_is_left_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=told) as raised:
        read_comparisons(file)
    assert raised.value.hint


def test_too_few_votes_are_an_error_that_names_the_settings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"1 questions with votes.*votes\.answers"):
        read_comparisons(write(tmp_path, [GOOD]))


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path, [GOOD] * 100, "rows.jsonl.gz")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="truncated"):
        read_comparisons(file, ALL)
    file.write_bytes(gzip.compress(b"\xff\xfe\n"))
    with pytest.raises(InputError, match="UTF-8"):
        read_comparisons(file, ALL)


def test_votes_alone_need_no_pairs(tmp_path: Path) -> None:
    one = {"question": "Alone?", "answers": answers(("yes", 9))}
    data = read_voted(write(tmp_path, [GOOD, one]), ReadingConfig(votes=rule(answers=50)))
    assert [each.question for each in data.voted] == [GOOD["question"]]
    assert not data.groups
    with pytest.raises(InputError, match="votes of two answers"):
        read_voted(write(tmp_path, [one]))


def test_the_report_has_the_funnel_and_an_example_of_each_problem(tmp_path: Path) -> None:
    one = {"question": "Alone?", "answers": answers(("yes", 9))}
    lines = list(report(read_comparisons(write(tmp_path, [one, one, GOOD, "{"]), ALL)))
    assert lines[0].split() == ["lines", "4"]
    assert [line.split()[-1] for line in lines if line.startswith("comparisons  ")] == ["1"]
    assert any("line 1: there is one answer" in line and "(1 more of this kind)" in line for line in lines)
    assert any("line 4: not valid JSON" in line for line in lines)
