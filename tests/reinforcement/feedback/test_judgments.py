"""The judgments of a real store are divided into what trains and what is pinned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from citewell.reinforcement.feedback.judgments import (
    JUDGMENTS,
    PINNED_JUDGMENTS,
    PINNED_QUESTIONS,
    QUESTIONS,
    divide_judgments,
)
from citewell.server.commands.judgments import export_judgments
from citewell.server.store.database import ServiceStore, open_store
from tests.scorer.training.made_up import question
from tests.server.store.samples import comparison, feedback, ranking

SHOWN = "Bats find their way by echolocation."


async def fill(store: ServiceStore, count: int) -> None:
    for number in range(count):
        await store.comparisons.add(comparison(question=question(number)))
    await store.feedback.add(feedback(question=question(count)))
    await store.feedback.add(feedback(question=question(count), thumb=-1, answer="By sight [1]."))
    await store.feedback.add(feedback(question=question(count + 1), thumb=0, comment="hm"))
    await store.rankings.add(ranking(question=question(count + 2)))
    await store.comparisons.add(comparison(question="What is the number of ada@example.org in Delta?"))


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(params=["sqlite", "postgres"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        address = str(request.getfixturevalue("database"))
    else:
        address = f"sqlite:///{tmp_path / 'citewell.sqlite3'}"
    async with open_store(address) as store:
        await fill(store, 40)
    return address


def divided(url: str, folder: Path) -> Path:
    folder.mkdir()
    export_judgments(url, folder)
    divide_judgments(folder, folder)
    return folder


def test_every_question_trains_or_is_pinned(url: str, tmp_path: Path) -> None:
    folder = divided(url, tmp_path / "out")
    asked = {name: {row["question"] for row in rows(folder / name)} for name in (QUESTIONS, PINNED_QUESTIONS)}
    assert asked[QUESTIONS] | asked[PINNED_QUESTIONS] == {question(number) for number in range(43)}
    assert 4 <= len(asked[PINNED_QUESTIONS]) <= 14
    for name, questions in ((JUDGMENTS, QUESTIONS), (PINNED_JUDGMENTS, PINNED_QUESTIONS)):
        assert {row["question"] for row in rows(folder / name)} == asked[questions]
    assert not asked[QUESTIONS] & asked[PINNED_QUESTIONS]


async def test_questions_keep_their_part_when_more_are_judged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'citewell.sqlite3'}"
    async with open_store(url) as store:
        await fill(store, 40)
    before = await _pinned(url, tmp_path / "before")
    async with open_store(url) as store:
        for number in range(100, 140):
            await store.comparisons.add(comparison(question=question(number)))
    assert before < await _pinned(url, tmp_path / "after")


async def _pinned(url: str, folder: Path) -> set[str]:
    import asyncio

    await asyncio.to_thread(divided, url, folder)
    return {row["question"] for row in rows(folder / PINNED_QUESTIONS)}


def test_a_question_has_the_answer_that_people_liked_and_its_references(tmp_path: Path) -> None:
    exported: dict[str, list[dict[str, Any]]] = {
        "comparisons.jsonl": [
            {
                "question": "who won?",
                "answers": [
                    {"text": "Nobody.", "references": ["No game was played."]},
                    {"text": "Ada [1].", "references": ["Ada won."]},
                ],
                "preferred": 1,
            }
        ],
        "feedback.jsonl": [
            {"question": "why?", "answer": "So [1].", "references": ["It is so."], "thumbs": -1},
            {"question": "bare?", "answer": "Yes.", "references": [], "thumbs": 1},
        ],
        "rankings.jsonl": [
            {
                "question": "what is best?",
                "answers": ["Tea.", "Milk [1]."],
                "ranks": [2, 1],
                "references": ["Milk is good."],
                "sources": [{"references": []}, {"references": ["Milk is good."]}],
            }
        ],
    }
    for name, written in exported.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in written))
    divide_judgments(tmp_path, tmp_path)
    found = {row["question"]: row for name in (QUESTIONS, PINNED_QUESTIONS) for row in rows(tmp_path / name)}
    assert found["who won?"] == {"question": "who won?", "references": ["Ada won."], "answer": "Ada [1]."}
    assert found["what is best?"]["answer"] == "Milk [1]."
    assert found["why?"] == {"question": "why?", "references": ["It is so."], "answer": ""}
    assert "bare?" not in found
