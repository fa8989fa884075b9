"""Scorers from outside: `citewell ask --scorer`, best of n with a trained one, `citewell eval scorer`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import aclosing
from itertools import cycle
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.cli.view import PlainView
from citewell.core.events import Done
from citewell.core.settings import Settings
from citewell.core.types import Answer
from citewell.pipeline.build import open_pipeline
from citewell.scorer.choice import MARGIN
from citewell.scorer.form import Form, InputLayout, write_form
from citewell.scorer.model import HEAD, WEIGHTS
from tests.cli.conftest import Cli

BATS = "How do bats find their way in the dark?"
TRUE = "Bats find their way in the dark by echolocation"
ALSO = "A bat sends out short calls that are too high for human ears"
INVENTED = "They also read maps that they buy from penguins"
Make = Callable[..., Settings]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scorer of the packaged MiniLM whose head is drawn at random."""
    torch = pytest.importorskip("torch")
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("scorer")
    head = torch.randn(1, 384, generator=torch.Generator().manual_seed(3)) * 10
    save_file({"weight": head, "bias": torch.zeros(1)}, folder / HEAD)
    save_file({}, folder / WEIGHTS)
    form = Form(
        base="all-MiniLM-L6-v2",
        tuning="full",
        pooling="mean",
        layout=InputLayout(),
        mean=0.0,
        std=1.0,
        elo=1.0,
    )
    write_form(form, folder)
    return folder


async def write(settings: Make, texts: Iterator[str], **flags: object) -> Answer:
    """What is answered where a service writes these texts, one a request."""

    async def complete(request: web.Request) -> web.Response:
        choice = {"message": {"content": next(texts)}, "finish_reason": "stop"}
        return web.json_response({"choices": [choice]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    async with TestServer(app, host="127.0.0.1") as server:
        named = {"generator.name": "openai:tiny", "generator.key": "sk-any"}
        named |= {"generator.base_url": f"http://127.0.0.1:{server.port}/v1"} | flags
        async with open_pipeline(settings(**named)) as pipeline, aclosing(pipeline.ask(BATS)) as stream:
            events = [event async for event in stream]
    assert isinstance(events[-1], Done)
    return events[-1].answer


async def test_a_trained_scorer_chooses_and_says_why(
    settings: Make, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = iter([f"{TRUE}[1].", f"{TRUE}[1]. {INVENTED}[2].", f"{TRUE}[2].", f"{ALSO}[1]."])
    flags = {"generator.best_of": 4, "scorer.name": str(trained)}
    answer = await write(settings, texts, **flags)
    assert answer.models["scorer"] == str(trained)
    candidates = answer.to_json()["candidates"]
    assert len(candidates) == 3  # two differ in their marks alone, which are corrected
    assert [candidate["won"] for candidate in candidates].count(True) == 1
    winner = next(candidate for candidate in candidates if candidate["won"])
    assert winner["answer"] == answer.answer
    assert INVENTED not in answer.answer
    (loser,) = [candidate for candidate in candidates if candidate["unsupported"]]
    assert loser["adjusted_score"] == pytest.approx(loser["score"] - 1.5 * MARGIN)
    assert "1 sentence is unsupported" in loser["reason"]
    PlainView().show(answer)
    shown = capsys.readouterr().out
    assert f"3 candidates, scored by {trained}" in shown
    assert winner["reason"] in shown
    assert f"{winner['score']:+.2f}" in shown


async def test_the_scorer_chooses_among_supported_answers(settings: Make, trained: Path) -> None:
    texts = iter([f"{TRUE}[1].", f"{ALSO}[1]."])
    flags = {"generator.best_of": 2, "scorer.name": str(trained)}
    answer = await write(settings, texts, **flags)
    scores = [candidate.score for candidate in answer.candidates]
    assert answer.best == scores.index(max(scores))
    assert scores[0] != scores[1]


async def test_n_stops_where_nothing_new_is_written(settings: Make, trained: Path) -> None:
    asked: list[str] = []

    def texts() -> Iterator[str]:
        for text in cycle([f"{TRUE}[1]."]):
            asked.append(text)
            yield text

    flags = {"generator.best_of": 32, "scorer.name": str(trained), "scorer.min_gain": 1e-6}
    answer = await write(settings, texts(), **flags)
    assert len(asked) == 8
    assert len(answer.candidates) == 1


def test_the_command_line_takes_a_scorer(cli: Cli, trained: Path) -> None:
    result = cli.run("ask", BATS, "--collection", "notes", "--scorer", trained, "--json")
    assert result.code == 0, result.err
    (answer,) = result.objects()
    assert answer["models"]["scorer"] == str(trained)
    assert answer["candidates"][0]["reason"] == "The only candidate."


def test_a_scorer_that_does_not_exist_is_named(cli: Cli) -> None:
    result = cli.run("ask", BATS, "--collection", "notes", "--scorer", "best")
    assert result.code == 2
    assert "Unknown scorer 'best'" in result.err
    assert "Traceback" not in result.err


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    rows = [
        {
            "question": f"What is number {number}?",
            "answers": [
                {
                    "text": f"Number {number} is {word} " + "and so on " * (5 + number % 3),
                    "score": 20 - 2 * place,
                }
                for place, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight"])
            ],
        }
        for number in range(12)
    ]
    file = tmp_path / "votes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_scorers_are_measured_on_votes(cli: Cli, votes: Path, trained: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib, of the extra `eval`, is not installed")
    names = f"random,length,bm25,embedding,citation-support,{trained}"
    result = cli.run(
        *("eval", "scorer", votes, "--scorers", names, "--json", tmp_path / "s.json"),
        *("--markdown", tmp_path / "s.md", "--plots", tmp_path / "plots"),
    )
    assert result.code == 0, result.err
    found = json.loads((tmp_path / "s.json").read_text())
    assert list(found) == names.split(",")
    assert found["length"]["pair accuracy"]["questions"] == 12
    assert found["citation-support"]["pair accuracy"]["value"] == 0.5
    assert "calibration error" in found[str(trained)]
    assert "citation-support scores all of them 0" in result.out
    assert "Differences to length" in (tmp_path / "s.md").read_text()
    assert {file.name for file in (tmp_path / "plots").iterdir()} == {"ranks.png", "calibration.png"}
    details = json.loads((tmp_path / "s.details.json").read_text())
    assert set(details["comparisons"]["pair accuracy"]) == set(names.split(",")) - {"length"}


def test_scorers_are_measured_on_comparisons_with_references(cli: Cli, tmp_path: Path) -> None:
    rows = [
        {"prompt": f"What is {n}?", "chosen": f"{n} is a number.", "rejected": "I like trains very much."}
        | {"references": [f"The text says that {n} is a number."]}
        for n in range(6)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = cli.run("eval", "scorer", file, "--scorers", "citation-support,length")
    assert result.code == 0, result.err
    assert "| citation-support | 1.000 (1.000 to 1.000) |" in result.out
    assert "Spearman |" not in result.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--scorers", "longest"), "Unknown scorer 'longest'"),
        (("--scorers", "length,length"), "named twice"),
        (("--scorers", ","), "--scorers names no scorer"),
        (("--scorers", "length", "--baseline", "bm25"), "not among the scorers"),
        (("--scorers", "length", "--json", "/nowhere/at/all/s.json"), "does not exist"),
    ],
)
def test_mistakes_are_told_before_anything_is_measured(
    cli: Cli, votes: Path, arguments: tuple[str, ...], text: str
) -> None:
    result = cli.run("eval", "scorer", votes, *arguments)
    assert result.code == 2
    assert text in result.err


def test_a_file_without_enough_answers_says_what_would_help(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "few.jsonl"
    file.write_text(json.dumps({"question": "Why?", "answers": [{"text": "So.", "score": 9}]}) + "\n")
    result = cli.run("eval", "scorer", file, "--scorers", "length")
    assert result.code == 2
    assert "votes.answers" in result.err
