"""The blind reading hides the writers from the reader, and counts verdicts for the right ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.blind_reading import answers_of_sheet, deal, report, sheet
from citewell.server.studies.answer_files import read_answer_file

QUESTIONS = [
    {"collection": "notes", "question": f"Question {number}?", "fact": "a fact" if number < 9 else ""}
    for number in range(12)
]


def answers() -> list[dict[str, Any]]:
    references = [{"number": 1, "title": "Notes", "text": "A passage."}]
    return [
        {**one, "writer": writer, "answer": f"{text} {one['question']}", "references": references}
        for one in QUESTIONS
        for writer, text in (("first", "Alpha"), ("second", "Beta"))
    ]


def test_the_sheet_names_no_writer_and_the_order_differs_by_question() -> None:
    dealt = deal(QUESTIONS, answers())
    text = sheet(dealt)
    assert "first" not in text
    assert "second" not in text
    assert text.count("Alpha") == text.count("Beta") == 12
    assert {one["answers"]["A"]["writer"] for one in dealt} == {"first", "second"}
    assert dealt == deal(QUESTIONS, answers())


def test_verdicts_count_for_the_writer_behind_the_letter() -> None:
    dealt = deal(QUESTIONS, answers())
    judged = {}
    for one in dealt:
        of = {row["writer"]: letter for letter, row in one["answers"].items()}
        held = bool(one["fact"])
        verdicts = {of["first"]: "right" if held else "refused", of["second"]: "wrong"}
        judged[one["number"]] = {"held": held, "verdicts": verdicts, "unreadable": [of["second"]]}
    rows = {line.split(" | ")[0]: line for line in report(dealt, judged).splitlines()}
    assert rows["| first"].split(" | ")[1:3] == ["9", "1.00 (1.00 to 1.00)"]
    assert rows["| first"].split(" | ")[6:8] == ["3", "1.00 (1.00 to 1.00)"]
    assert rows["| second"].split(" | ")[4] == "1.00 (1.00 to 1.00)"
    assert rows["| second"].split(" | ")[-1] == "0.00 (0.00 to 0.00) |"


def test_references_that_differ_stand_below_the_answer_that_cites_them() -> None:
    dealt = deal(QUESTIONS[:1], answers())
    for letter, row in dealt[0]["answers"].items():
        row["answer"] = f"Answer {letter}. [2]"
        row["references"] = [{"number": n, "title": "Notes", "text": f"Passage {letter}{n}."} for n in (1, 2)]
    [*_, first, of_first, second, of_second] = sheet(dealt).strip().split("\n\n")
    assert (first, of_first) == ("**A** Answer A. [2]", "> [2] *Notes*: Passage A2.")
    assert (second, of_second) == ("**B** Answer B. [2]", "> [2] *Notes*: Passage B2.")


def test_the_sheet_with_verdicts_gives_the_answers_back_for_a_study(tmp_path: Path) -> None:
    dealt = deal(QUESTIONS, [row | {"answer": f"{row['answer']} [1] (not supported)"} for row in answers()])
    verdicts = {"verdicts": {"A": "right", "B": "wrong"}, "unreadable": ["B"]}
    judged = {one["number"]: verdicts for one in dealt}
    rows = list(answers_of_sheet(f"# Answers\n\n{sheet(dealt, judged)}"))
    assert {row["question"] for row in rows} == {one["question"] for one in QUESTIONS}
    expected = {f"Alpha {one['question']} [1]" for one in QUESTIONS}
    assert {row["answer"] for row in rows if row["system"] == "first"} == expected
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    study = list(read_answer_file(file))
    assert len(study) == 24
    assert study[0].references[0].text == "A passage."
    assert study[0].sentences[-1].marks == (1,)
