"""The handbook answers what a newcomer asks of it, through the real pipeline."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

import citewell
from citewell.core.settings import load_settings

QUESTIONS = Path(__file__).parents[2] / "benchmarks" / "questions" / "newcomer.jsonl"
README = (QUESTIONS.parents[2] / "README.md").read_text(encoding="utf-8")
SHOWN = "How does Citewell check a citation?"
ROWS = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, citewell.Answer]:
    settings = load_settings({"data_dir": tmp_path_factory.mktemp("data"), "search.collection": "handbook"})

    async def asked() -> dict[str, citewell.Answer]:
        async with citewell.open_pipeline(settings) as pipeline:
            questions = [SHOWN, *(row["question"] for row in ROWS)]
            return {question: await citewell.final_answer(pipeline.ask(question)) for question in questions}

    return asyncio.run(asked())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["question"])
def test_a_question_is_answered_from_its_page(
    row: dict[str, str], answers: dict[str, citewell.Answer]
) -> None:
    answer = answers[row["question"]]
    assert answer.outcome == "answered"
    cited = {number for sentence in answer.sentences for number in sentence.citations}
    pages = [ref.url.rpartition("/")[2] for ref in answer.references if ref.number in cited]
    assert set(row["pages"]) & set(pages)
    assert row["says"] in answer.answer


def test_most_questions_have_the_right_page_first(answers: dict[str, citewell.Answer]) -> None:
    first = [answers[row["question"]].references[0].url.rpartition("/")[2] in row["pages"] for row in ROWS]
    assert sum(first) >= 0.9 * len(ROWS)


def test_the_answer_in_the_readme_is_a_real_one(answers: dict[str, citewell.Answer]) -> None:
    shown = README.partition(f'$ citewell ask "{SHOWN}"')[2].partition("\n\nReferences")[0]
    assert shown.split() == answers[SHOWN].answer.split()
