"""Labels of a language model: judged over HTTP, resumed, and read for training."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from citewell.bootstrap.labels.prompt import answers_prompt
from citewell.bootstrap.labels.run import LabelRun, write_labels
from citewell.core.errors import InputError
from citewell.generator.chat_client import ChatClient
from citewell.generator.yes import ApiYesModel
from citewell.retriever.training.labels.answers import answer_rows, calibration
from citewell.retriever.training.labels.asked import read_asked
from tests.generator.chat_service import ChatService, yes_or_no

PAIRS = [
    {
        "id": "q1",
        "question": "Who found radium?",
        "positive": [{"title": "Curie", "text": "She found radium."}],
    },
    {
        "id": "q2",
        "question": "What is radium?",
        "positive": [{"title": "Radium", "text": "A metal."}],
        "hard_negative": ["Radium paint glows."],
    },
]
MORE = {"title": "Paint", "passage": "Paint that holds radium was found in clocks."}


def write_pairs(folder: Path) -> list[Path]:
    files = [folder / "pairs.jsonl", folder / "more.jsonl"]
    files[0].write_text("".join(json.dumps(row) + "\n" for row in PAIRS))
    files[1].write_text(json.dumps(MORE) + "\n")
    return files


async def judging(request: web.Request) -> web.StreamResponse:
    """Says yes where the passage and the question share the word "found"."""
    body = await request.json()
    asked = body["messages"][-1]["content"]
    return web.json_response(yes_or_no(0.9 if "found radium." in asked and "Who found" in asked else 0.25))


async def run(folder: Path, service: ChatService, **changes: Any) -> tuple[str, list[dict[str, Any]]]:
    out = folder / "labels.jsonl"
    async with ChatClient("tiny", service.url, retries=0) as client:
        about = LabelRun(files=write_pairs(folder), out=out, each=3, price=2.0, **changes)
        cost = await write_labels(about, ApiYesModel(client), lambda line: None)
    return str(cost), [json.loads(line) for line in out.read_text().splitlines()]


async def test_every_question_is_judged_with_its_candidates(tmp_path: Path) -> None:
    async with ChatService([judging]) as service:
        cost, labels = await run(tmp_path, service)
    assert {label["question"] for label in labels} == {"q1", "q2"}
    assert [label["yes"] for label in labels if label["gold"]] == pytest.approx([0.9, 0.25], abs=1e-3) or [
        label["yes"] for label in labels if label["gold"]
    ] == pytest.approx([0.25, 0.9], abs=1e-3)
    assert len(labels) == len({(label["question"], label["passage"]) for label in labels}) == 6
    assert cost.startswith("6 labels, 6 of them from this run: 42 tokens in ")
    assert cost.endswith("costing 0.0001")
    first = service.requests[0]
    assert (first["max_tokens"], first["logprobs"], first["top_logprobs"]) == (1, True, 20)


async def test_a_later_run_judges_only_what_is_missing(tmp_path: Path) -> None:
    async with ChatService([judging]) as service:
        _, before = await run(tmp_path, service, limit=2)
        assert len(before) == 2
        with (tmp_path / "labels.jsonl").open("a") as file:
            file.write('{"question": "q2", "pass')  # killed while writing
        cost, labels = await run(tmp_path, service)
    assert labels[:2] == before
    assert len(labels) == 6
    assert len(service.requests) == 6
    assert cost.startswith("6 labels, 4 of them from this run")


async def test_labels_are_read_for_training(tmp_path: Path) -> None:
    async with ChatService([judging]) as service:
        await run(tmp_path, service)
    files, labels = write_pairs(tmp_path), tmp_path / "labels.jsonl"
    rows = {row.question: row for row in answer_rows(files, labels, 0.0)}
    people = {row.question: row for row in answer_rows(files, labels, 1.0)}
    first = rows["Who found radium?"]
    assert len(first.passages) == 3
    assert first.passages[0] == "Curie. She found radium."
    assert first.targets[0] > max(first.targets[1:])
    assert people["Who found radium?"].targets == (1.0, 0.0, 0.0)
    assert "Paint. Paint that holds radium was found in clocks." in first.passages


def test_sentences_are_a_passage(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    sentences = [{"text": "It rusts."}, {"text": ""}, {"text": "Paint it."}]
    row = {"id": "q", "question": "Why paint iron?", "domain": "home", "sentences": sentences}
    file.write_text(json.dumps(row) + "\n")
    asked = read_asked([file])
    assert asked.questions["q"].answering == (("home", "It rusts.  Paint it."),)
    file.write_text(json.dumps(row | {"sentences": [7]}) + "\n")
    with pytest.raises(InputError, match="a sentence is not an object"):
        read_asked([file])


def test_labels_of_other_files_are_named(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"question": "q9", "passage": "00", "yes": 0.5, "gold": false}\n')
    with pytest.raises(InputError, match="no labels for these questions"):
        answer_rows(write_pairs(tmp_path), labels, 0.0)
    labels.write_text('{"question": "q1", "passage": "00", "yes": 1.5}\n')
    with pytest.raises(InputError, match="not between 0 and 1"):
        answer_rows(write_pairs(tmp_path), labels, 0.0)


def test_probabilities_are_calibrated_to_peoples_labels() -> None:
    yes = [0.9, 0.8, 0.7, 0.6, 0.7, 0.5, 0.6, 0.5, 0.4, 0.6]
    gold = [True, True, True] + [False] * 7
    slope, shift = calibration(yes, gold)
    found = [1 / (1 + math.exp(-(slope * math.log(each / (1 - each)) + shift))) for each in yes]
    assert sum(found) == pytest.approx(3.3, abs=0.4)
    assert slope > 1
    assert calibration([0.5, 0.6], [True, True]) == (1.0, 0.0)


def test_the_prompt_shows_the_title_and_cuts_a_long_passage() -> None:
    asked = answers_prompt("Why?", "T", "x " * 500)[1]["content"]
    assert "Passage: T. x" in asked
    assert len(asked.split()) < 230
