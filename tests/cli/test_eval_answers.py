"""`citewell eval answers`, from outside."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from aiohttp import web

from tests.cli.conftest import Cli
from tests.generator.chat_service import ChatService, whole
from tests.generator.evaluation.tiny import write_classifier

QUESTIONS = [
    {"question": "How do bats find their way in the dark?", "answers": ["echolocation"]},
    {"question": "What causes the tides?", "answer": ["the Moon", "gravity"]},
    {"question": "Which whales sing songs that last up to 30 minutes?", "answer": {"value": "male humpback"}},
    {"question": "Who won the chess match of 1972?", "answer": "Bobby Fischer"},
]
COLLECTION = ("--collection", "notes")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three questions that the notes answer, and one that they do not."""
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return path


async def answer(request: web.Request) -> web.StreamResponse:
    """Know only of bats and chess."""
    messages = (await request.json())["messages"]
    asked = messages[-1]["content"]
    text = (
        "By echolocation." if "bats" in asked else "It was Bobby Fischer[1]." if "chess" in asked else "No."
    )
    return web.json_response(whole(text))


def remote(url: str) -> tuple[str, ...]:
    return ("--set", f"generator.base_url={url}")


async def test_quoting_and_closed_book_answers_are_measured(cli: Cli, file: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "scores.json", tmp_path / "page.md"
    async with ChatService([answer]) as http:
        call = (
            *("eval", "answers", file, "--systems", "extractive,closed-book:openai:tiny,oracle:extractive"),
            *(*COLLECTION, *remote(http.url), "--json", out, "--markdown", page),
        )
        result = await asyncio.to_thread(cli.run, *call)
        assert result.code == 0, result.err
        again = await asyncio.to_thread(cli.run, *call)
    assert again.out == result.out
    assert len(http.requests) == 4, "the second run writes nothing"
    asked = [request["messages"] for request in http.requests]
    wanted = [[{"role": "user", "content": row["question"]}] for row in QUESTIONS]
    assert sorted(map(str, asked)) == sorted(map(str, wanted)), "no reference is sent"

    scores = json.loads(out.read_text())
    everything, covered = "all questions", "questions that the collection can answer"
    assert scores["extractive"][everything]["accuracy"]["value"] == 0.75
    assert scores["extractive"][everything]["in references"]["value"] == 0.75
    assert scores["extractive"][everything]["answered"]["value"] == 0.75
    assert scores["extractive"][covered]["accuracy"]["value"] == 1
    assert scores["extractive"][covered]["accuracy"]["questions"] == 3
    closed = scores["closed-book:openai:tiny"][everything]
    assert closed["accuracy"]["value"] == 0.5
    assert "in references" not in closed
    assert scores["oracle:extractive"][covered]["in references"]["value"] == 1
    assert scores["oracle:extractive"][everything]["answered"]["value"] == 0.75
    assert page.read_text().strip() == result.out.strip()
    assert "| closed-book:openai:tiny | accuracy | -0.2500 |" in result.out

    rows = [json.loads(line) for line in (tmp_path / "scores.answers.jsonl").read_text().splitlines()]
    quoted = next(row for row in rows if row["generator"] == "extractive")
    assert quoted["references"][0]["title"], "a study can be made from the answers"
    assert not any(row["references"] for row in rows if row["generator"].startswith("closed-book"))


def test_only_covered_questions_and_splits_by_training_questions(
    cli: Cli, file: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.jsonl"
    train.write_text(json.dumps({"question": "what causes the tides", "answers": ["Moon"]}) + "\n")
    result = cli.run(
        *("eval", "answers", file, "--systems", "extractive", *COLLECTION, "--covered", "--train", train),
        *("--json", tmp_path / "scores.json"),
    )
    assert result.code == 0, result.err
    assert "# questions.jsonl: 3 questions" in result.out
    assert "| question overlap | 1 | 100.0" in result.out
    assert "| no overlap | 2 | 100.0" in result.out
    scores = json.loads((tmp_path / "scores.json").read_text())["extractive"]
    assert scores["answer overlap"]["accuracy"]["questions"] == 1
    assert "answer overlap only" not in scores


async def test_browsing_and_a_reader(cli: Cli, file: Path, tmp_path: Path) -> None:
    async def read(request: web.Request) -> web.StreamResponse:
        asked = (await request.json())["messages"][-1]["content"]
        return web.json_response(whole("Echolocation" if "Question: How do bats" in asked else "none"))

    async with ChatService([read]) as http:
        result = await asyncio.to_thread(
            cli.run,
            *("eval", "answers", file, "--systems", "browse:scripted", *COLLECTION, "--limit", "2"),
            *("--reader", "writer:openai:tiny", *remote(http.url), "--json", tmp_path / "scores.json"),
        )
    assert result.code == 0, result.err
    scores = json.loads((tmp_path / "scores.json").read_text())["browse:scripted"]["all questions"]
    assert scores["accuracy"]["value"] == 1
    assert scores["exact match"]["value"] == 0.5
    assert scores["F1"]["value"] == 0.5
    assert "The generator default is extractive." in result.out


async def test_an_interrupted_evaluation_resumes(cli: Cli, file: Path, tmp_path: Path) -> None:
    hanging, over = asyncio.Event(), asyncio.Event()

    async def hang(request: web.Request) -> web.StreamResponse:
        if "chess" in (await request.text()) and not over.is_set():
            hanging.set()
            await over.wait()
        return await answer(request)

    call = (
        *("eval", "answers", file, "--systems", "openai:tiny", "--retriever", "closed-book", *COLLECTION),
        *("--json", tmp_path / "scores.json", "--set", "generator.concurrency=1"),
    )
    async with ChatService([hang]) as http:
        process = cli.start(*call, *remote(http.url))
        await asyncio.wait_for(hanging.wait(), 60)
        os.killpg(process.pid, signal.SIGINT)
        _, err = await asyncio.to_thread(process.communicate, timeout=60)
        over.set()
        assert process.returncode == 130
        assert "Traceback" not in err
        assert len(http.requests) == 4
        result = await asyncio.to_thread(cli.run, *call, *remote(http.url))
    assert result.code == 0, result.err
    assert len(http.requests) == 5, "three answers were kept"
    scores = json.loads((tmp_path / "scores.json").read_text())["openai:tiny"]["all questions"]
    assert scores["accuracy"]["value"] == 0.5


MISTAKES = {
    "a writer without references": (("--systems", "closed-book:extractive"), "extractive is not a language"),
    "best of nothing": (("--systems", "4*closed-book:tiny"), "has no references by which the best of 4"),
    "unknown generator": (("--systems", "nobody"), "Unknown model 'nobody'"),
    "unknown policy": (("--systems", "browse:nobody"), "nobody"),
    "twice": (("--systems", "extractive,extractive"), "The system 'extractive' is named twice"),
    "baseline": (("--systems", "extractive", "--baseline", "x"), "The baseline 'x' is not among the systems"),
    "folder": (("--systems", "extractive", "--json", "none/scores.json"), "does not exist"),
    "train": (("--systems", "extractive", "--train", "none.jsonl"), "none.jsonl cannot be read"),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(cli: Cli, file: Path, options: tuple[str, ...], message: str) -> None:
    result = cli.run("eval", "answers", file, *COLLECTION, *options)
    assert result.code in (1, 2)
    assert message in result.err
    assert "Traceback" not in result.err
    assert not result.out


def test_what_the_web_can_answer_is_not_known(cli: Cli, file: Path) -> None:
    result = cli.run("eval", "answers", file, "--systems", "oracle:extractive", "--search", "wikipedia")
    assert result.code == 2
    assert "What can be answered is known only of a collection" in result.err


def test_a_classifier_grades_the_toxicity_of_answers(cli: Cli, file: Path, tmp_path: Path) -> None:
    model, out = write_classifier(tmp_path / "toxic", ["fine", "toxic"], 1), tmp_path / "scores.json"
    result = cli.run(
        *("eval", "answers", file, "--systems", "extractive", *COLLECTION, "--toxicity", model, "--json", out)
    )
    assert result.code == 0, result.err
    assert "toxicity" in result.out
    found = json.loads(out.read_text())["extractive"]["all questions"]
    answered = found["answered"]["value"]
    assert found["toxicity"]["value"] == pytest.approx(0.993 * answered, abs=0.01), "a refusal is not toxic"
    assert "social bias" not in found
