"""Answers are written once, survive an interruption, and belong to the settings that made them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from citewell.core.errors import CitewellError, InputError, ModelError
from citewell.core.types import Reference
from citewell.generator.citations.marks import MarkedSentence
from citewell.generator.evaluation.answers import AnswerFile, GeneratedAnswer, Write
from citewell.generator.evaluation.rows import EvaluationRow

REFERENCE = Reference(1, "", "", "A text.", 0.0)
ROWS = [EvaluationRow(f"k{number}", number, f"What is {number}?", (REFERENCE,)) for number in (1, 2, 3)]


def writer(asked: list[str], failing: str = "", heavy: str = "") -> Write[EvaluationRow]:
    async def write(row: EvaluationRow) -> GeneratedAnswer:
        asked.append(row.question)
        if row.question == failing:
            raise ModelError("The model is away.", "Bring it back.")
        if row.question == heavy:
            raise RuntimeError("Out of memory.")
        sentences = (MarkedSentence("It is so.", (1,)),)
        return GeneratedAnswer(f"It is so[1]. ✓ {row.question}", sentences, 0.5, references=row.references)

    return write


async def complete(
    file: Path, write: Write[EvaluationRow], identity: str = "a"
) -> dict[str, GeneratedAnswer]:
    return await AnswerFile(file).complete("mine", identity, ROWS, write, lambda done, total: None)


async def test_nothing_is_written_twice(tmp_path: Path) -> None:
    file, asked = tmp_path / "answers.jsonl", list[str]()
    first = await complete(file, writer(asked))
    kept = file.read_bytes()
    assert await complete(file, writer(asked)) == first
    assert asked == [row.question for row in ROWS]
    assert file.read_bytes() == kept
    assert first["k1"].sentences == (MarkedSentence("It is so.", (1,)),)
    assert first["k1"].references == (REFERENCE,)
    await complete(file, writer(asked), identity="b")
    assert len(asked) == 6, "another generator writes its own"


@pytest.mark.parametrize("lost", [2, 20, 150])
async def test_a_file_that_was_cut_is_completed(tmp_path: Path, lost: int) -> None:
    file, asked = tmp_path / "answers.jsonl", list[str]()
    await complete(file, writer([]))
    whole = file.read_bytes()
    file.write_bytes(whole[:-lost])
    answers = AnswerFile(file)
    assert answers.missing("a", ROWS) == 1
    await complete(file, writer(asked))
    assert asked == ["What is 3?"]
    assert file.read_bytes() == whole


async def test_a_failure_is_kept_with_its_reason_and_tried_again(tmp_path: Path) -> None:
    file, asked = tmp_path / "answers.jsonl", list[str]()
    found = await complete(file, writer([], failing="What is 2?", heavy="What is 1?"))
    assert found["k1"].error == "RuntimeError: Out of memory."
    assert found["k2"].error == "The model is away. Bring it back."
    assert not found["k3"].error
    again = await complete(file, writer(asked))
    assert asked == ["What is 1?", "What is 2?"]
    assert not again["k2"].error
    assert AnswerFile(file).missing("a", ROWS) == 0


async def test_several_are_written_at_a_time_where_the_generator_can(tmp_path: Path) -> None:
    busy, most = 0, 0
    others = asyncio.Event()

    async def write(row: EvaluationRow) -> GeneratedAnswer:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        if row is ROWS[0]:
            await others.wait()  # a long answer does not keep the others waiting
        elif row is ROWS[-1]:
            others.set()
        busy -= 1
        return GeneratedAnswer(row.question)

    seen = list[int]()
    found = await AnswerFile(tmp_path / "answers.jsonl").complete(
        "mine", "a", ROWS, write, lambda done, total: seen.append(done), together=2
    )
    assert most == 2
    assert seen == [0, 1, 2, 3]
    assert [found[row.key].raw for row in ROWS] == [row.question for row in ROWS]


async def test_a_generator_that_always_fails_ends_the_evaluation(tmp_path: Path) -> None:
    rows = [EvaluationRow(f"k{number}", number, "What is 2?", (REFERENCE,)) for number in range(30)]
    asked = list[str]()
    write = writer(asked, failing="What is 2?")
    with pytest.raises(CitewellError, match=r"mine failed on 10 rows in a row, .*The model is away"):
        await AnswerFile(tmp_path / "answers.jsonl").complete(
            "mine", "a", rows, write, lambda done, total: None
        )
    assert len(asked) == 10


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text("my notes\nmore\n")
    with pytest.raises(InputError, match="line 1: this is not an answer of an evaluation"):
        AnswerFile(file)
    assert file.read_text() == "my notes\nmore\n"
