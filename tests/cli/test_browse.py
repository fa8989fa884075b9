"""`citewell browse` as people and programs use it."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from citewell.browser.episode import read_episodes

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

BATS = "How do bats find their way in the dark?"
SENTENCE = "Bats find their way in the dark by echolocation."
NOTES = ("--collection", "notes")


def test_in_a_pipe_the_answer_is_on_standard_output_and_the_way_on_standard_error(cli: Cli) -> None:
    code, out, err = cli.run("browse", BATS, *NOTES)
    assert code == 0, err
    assert SENTENCE in out
    assert "[1] How bats find their way" in out
    first, second, *_ = err.splitlines()
    assert first == f"  1  Search {BATS}"
    assert second.startswith("  2  Clicked on link 0 → How bats find their way")


def test_a_recording_is_browsed_again_without_the_collection(cli: Cli, fresh: Cli, tmp_path: Path) -> None:
    record, trace = tmp_path / "pages.jsonl", tmp_path / "episode.jsonl"
    code, _, err = cli.run("browse", BATS, *NOTES, "--record", record, "--trace", trace)
    assert code == 0, err
    again = tmp_path / "again.jsonl"
    result = fresh.run("browse", BATS, "--replay", record, "--trace", again, "--json")
    (answer,) = result.objects()
    assert (result.code, answer["outcome"]) == (0, "answered")
    assert SENTENCE in answer["answer"]
    (first,), (second,) = list(read_episodes(trace)), list(read_episodes(again))
    assert [step.state for step in first.steps] == [step.state for step in second.steps]
    assert [step["command"] for step in answer["episode"]["steps"]] == [step.command for step in first.steps]


def test_a_person_browses_with_lines_of_standard_input(cli: Cli) -> None:
    lines = "s bats\nwhat?\n0\nq Bats find .. echolocation.\nb\nb\ne\n"
    code, out, err = cli.run("browse", BATS, *NOTES, "--policy", "human", input=lines)
    assert code == 0, err
    assert SENTENCE in out
    assert "it is not one of the commands" in err
    assert "♦Title\nSearch results for: bats" in err


def test_a_prompted_language_model_browses_by_valid_commands(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "episode.jsonl"
    code, _, err = cli.run(
        *("browse", BATS, *NOTES, "--policy", "SmolLM2-135M-Instruct", "--actions", "3", "--trace", trace),
        *("--generator", "extractive"),
    )
    assert code == 0, err
    (episode,) = read_episodes(trace)
    assert episode.policy == "SmolLM2-135M-Instruct"
    assert 1 <= len(episode.steps) <= 3
    assert all(step.kind != "invalid" and step.tokens for step in episode.steps)


def test_a_policy_that_does_not_exist(cli: Cli) -> None:
    code, out, err = cli.run("browse", BATS, *NOTES, "--policy", "extractive")
    assert (code, out) == (1, "")
    assert "extractive is not a language model" in err


def test_a_file_that_cannot_be_written_is_named_before_browsing(cli: Cli, tmp_path: Path) -> None:
    for file, problem in ((tmp_path / "none" / "t.jsonl", "does not exist"), (tmp_path, "is a folder")):
        code, _, err = cli.run("browse", BATS, *NOTES, "--trace", file)
        assert code == 2
        assert problem in err
        assert "Search" not in err


def test_files_of_two_options_differ(cli: Cli, tmp_path: Path) -> None:
    file, same = tmp_path / "a.jsonl", tmp_path / "none" / ".." / "a.jsonl"
    (tmp_path / "none").mkdir()
    code, out, err = cli.run("browse", BATS, *NOTES, "--trace", file, "--record", same)
    assert (code, out) == (2, "")
    assert f"--trace and --record both name {same}." in err
    assert not file.exists()


@pytest.mark.parametrize("option", ["--trace", "--record"])
def test_a_file_that_takes_nothing_is_named_after_the_answer(cli: Cli, option: str) -> None:
    code, out, err = cli.run("browse", BATS, *NOTES, option, "/dev/full")
    assert (code, SENTENCE in out) == (1, True)
    assert "citewell: /dev/full cannot be written: No space left on device." in err
    assert "Traceback" not in err


def test_a_search_that_fails_is_an_error(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "episode.jsonl"
    down = ("--search", "searxng", "--set", "search.searxng_url=http://127.0.0.1:9")
    code, out, err = cli.run("browse", BATS, *down, "--trace", trace)
    assert (code, out) == (1, "")
    assert "citewell: Nothing was quoted: the search failed, since" in err
    (episode,) = read_episodes(trace)
    assert episode.ending == "Answer"


def test_one_ctrl_c_ends_what_a_person_browses_and_keeps_it(cli: Cli, tmp_path: Path) -> None:
    trace, record = tmp_path / "episode.jsonl", tmp_path / "pages.jsonl"
    process = cli.start(
        *("browse", BATS, *NOTES, "--policy", "human", "--trace", trace, "--record", record),
        stdin=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write("s bats\n")
    process.stdin.flush()
    assert any(line.startswith("♦Title") and "bats" in next(process.stderr) for line in process.stderr)
    assert any(line.startswith("♦Next action") for line in process.stderr)
    os.killpg(process.pid, signal.SIGINT)
    code, err = process.wait(timeout=60), process.stderr.read()
    process.stdin.close()
    assert code == 130
    assert "citewell: interrupted; everything stored so far is kept." in err
    assert "Traceback" not in err
    (episode,) = read_episodes(trace)
    assert ([step.command for step in episode.steps], episode.ending) == (["Search bats"], "abandoned")
    assert record.read_bytes().count(b"\n") == 1


def test_the_episode_is_kept_if_nobody_can_write_the_answer(cli: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "episode.jsonl"
    nobody = ("--generator", "openai:m", "--set", "generator.base_url=http://127.0.0.1:9/v1")
    code, _, err = cli.run("browse", BATS, *NOTES, *nobody, "--set", "generator.seconds=2", "--trace", trace)
    assert code == 1
    assert "did not answer" in err or "cannot be reached" in err
    (episode,) = read_episodes(trace)
    assert episode.quotes
    assert not episode.answer
