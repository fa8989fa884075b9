"""`citewell eval generation`, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.notes import NOTES

JUDGED = {"citation recall", "citation precision", "claim recall"}


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two questions with the same three references, a broken line, and one that nothing answers."""
    texts = {name: NOTES[name].split("\n\n", 1)[1] for name in ("bats", "tides", "glass")}
    references = [{"title": name, "text": text} for name, text in texts.items()]
    lines = [
        {
            "question": "How do bats find their way in the dark?",
            "references": references,
            "answer": "By echolocation: they listen to the echoes of their own calls.",
            "claims": ["Bats find their way in the dark by echolocation."],
        },
        {"question": "What causes the tides?", "references": references},
        {"question": "Who won the chess match of 1972?", "references": references, "answerable": False},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken\n")
    return file


def test_measures_answers_and_a_second_run(cli: Cli, rows: Path, tmp_path: Path) -> None:
    out, page = tmp_path / "scores.json", tmp_path / "page.md"
    call = ("eval", "generation", rows, "--generators", "extractive", "--json", out)
    result = cli.run(*call, "--judges", "rouge,embedding", "--markdown", page)
    assert result.code == 0, result.err
    assert f"{rows}, line 4: not valid JSON" in result.err
    (generator,) = json.loads(out.read_text()).items()
    assert generator[0] == "extractive"
    assert set(generator[1]) == {"rouge", "embedding", "text"}
    assert set(generator[1]["embedding"]) == JUDGED
    recall = generator[1]["embedding"]["citation recall"]
    assert recall["low"] <= recall["value"] <= recall["high"] <= 1
    assert recall["value"] == 1, "what is quoted is supported"
    assert recall["questions"] == 2
    assert generator[1]["rouge"]["claim recall"]["value"] == 1
    assert generator[1]["text"]["copied 8-grams"]["value"] > 0.8
    assert page.read_text().strip() == result.out.strip()
    assert "3 questions, 1 of them unanswerable" in result.out
    assert "| rouge and embedding | " in result.out.partition("## Agreement of the judges")[2]

    answers = tmp_path / "scores.answers.jsonl"
    kept, details = answers.read_bytes(), (tmp_path / "scores.details.json").read_text()
    assert len(kept.splitlines()) == 3
    again = cli.run(*call, "--judges", "embedding", "--raw")
    assert again.code == 0, again.err
    assert answers.read_bytes() == kept, "another judge needs no new answers"
    assert "Citations are judged as the generator wrote them" in again.out
    assert (tmp_path / "scores.details.json").read_text() != details


def test_a_language_model_judges_and_is_named_with_its_threshold(cli: Cli, rows: Path) -> None:
    result = cli.run(
        *("eval", "generation", rows, "--limit", "1", "--set", "generator.answer_tokens=16"),
        *("--generators", "extractive,citewell-smollm2", "--judges", "writer:SmolLM2-135M-Instruct"),
    )
    assert result.code == 0, result.err
    name = "writer:SmolLM2-135M-Instruct (yes ≥ 0.5)"
    assert f"| extractive | {name} | " in result.out
    assert f"## Differences to extractive, judged by {name}" in result.out
    notice = "SmolLM2-135M-Instruct may favor answers of its family: those of citewell-smollm2."
    assert notice in result.out
    assert "also checked the citations" not in result.out, "words checked them"


def test_a_writer_that_checks_its_own_citations_is_named(cli: Cli, rows: Path) -> None:
    result = cli.run(
        *("eval", "generation", rows, "--limit", "1", "--set", "generator.answer_tokens=16"),
        *("--generators", "extractive,SmolLM2-135M-Instruct", "--judges", "embedding"),
        *("--set", "citations.judge=writer"),
    )
    assert result.code == 0, result.err
    notice = "The language model that wrote also checked the citations of SmolLM2-135M-Instruct."
    assert notice in result.out


def test_other_settings_are_another_generator(cli: Cli, rows: Path, tmp_path: Path) -> None:
    call = ("eval", "generation", rows, "--generators", "default", "--judges", "embedding")
    for sentences in (5, 1):
        assignment = f"generator.sentences={sentences}"
        result = cli.run(*call, "--json", tmp_path / "scores.json", "--set", assignment)
        assert result.code == 0, result.err
        assert "The generator default is extractive." in result.out
    assert len((tmp_path / "scores.answers.jsonl").read_text().splitlines()) == 6


MISTAKES = {
    "only rouge": (("--judges", "rouge"), "ROUGE would be the only judge"),
    "unknown judge": (("--judges", "gpt"), "Unknown judge 'gpt'"),
    "no writer": (("--judges", "writer:extractive"), "extractive is not one"),
    "unknown writer": (("--judges", "writer:nobody"), "Unknown model 'nobody'"),
    "generator twice": (("--generators", "default,default"), "The generator 'default' is named twice"),
    "no generator": (("--generators", ","), "--generators names no generator"),
    "unknown generator": (("--generators", "nobody"), "nobody"),
    "baseline": (("--generators", "extractive", "--baseline", "default"), "The baseline 'default' is not"),
    "no folder": (("--markdown", "none/page.md"), "does not exist"),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named(cli: Cli, rows: Path, options: tuple[str, ...], message: str) -> None:
    result = cli.run("eval", "generation", rows, *options)
    assert result.code in (1, 2)
    assert message in result.err
    assert "Traceback" not in result.err
    assert not result.out


def test_a_file_without_questions(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("{}\n")
    result = cli.run("eval", "generation", file)
    assert result.code == 2
    assert "holds no question with references" in result.err
