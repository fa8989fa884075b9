"""`citewell eval browse`, from outside: policies and the pipeline over a small collection."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from citewell.browser.episode import Episode, Step, read_episodes, write_episodes
from tests.cli.conftest import Cli
from tests.notes import BATS

pytest.importorskip("html2text", reason="the extra `browser` is not installed")

ROWS = (
    {"question": BATS, "answers": ["echolocation"], "origin": "test"},
    {"question": "What causes the tides?", "answers": ["the gravity of the Moon"], "origin": "test"},
    {"question": "Who built the first Fresnel lens?", "answers": ["nobody at all"], "origin": "test"},
)
NOTES = ("--collection", "notes", "--actions", "8")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return file


def test_systems_are_measured_and_compared(cli: Cli, questions: Path, tmp_path: Path) -> None:
    out, page, folder = tmp_path / "found.json", tmp_path / "page.md", tmp_path / "a" / "episodes"
    result = cli.run(
        *("eval", "browse", questions, *NOTES, "--systems", "random, scripted,pipeline"),
        *("--baseline", "scripted", "--json", out, "--markdown", page, "--episodes", folder),
    )
    assert result.code == 0, result.err
    found = json.loads(out.read_text(encoding="utf-8"))
    assert list(found) == ["random", "scripted", "pipeline"]
    for name in ("scripted", "pipeline"):
        assert found[name]["found"] == pytest.approx(2 / 3, abs=1e-4)
    assert found["scripted"]["valid"] == 1.0
    assert 2 < found["scripted"]["actions"] <= 8
    assert (found["pipeline"]["actions"], found["pipeline"]["valid"]) == (0, None)
    assert found["random"]["actions"] <= 8
    assert "| scripted |" in result.out
    assert "Compared with scripted:" in result.out
    assert "chosen by" not in result.out
    assert result.out == page.read_text(encoding="utf-8") + "\n"
    assert "scripted: 3 of 3, found 2" in result.err
    rewards = [episode.reward for episode in read_episodes(folder / "scripted.jsonl")]
    assert rewards == [1.0, 1.0, 0.0]
    assert {file.name for file in folder.iterdir()} == {"random.jsonl", "scripted.jsonl", "pipeline.jsonl"}


def test_two_evaluations_are_compared_question_by_question(cli: Cli, questions: Path, tmp_path: Path) -> None:
    for policy in ("random", "scripted"):
        call = ("eval", "browse", questions, *NOTES, "--systems", policy)
        assert cli.run(*call, "--json", tmp_path / f"{policy}.json").code == 0
    files = (tmp_path / "random.json", tmp_path / "scripted.json")
    result = cli.run("eval", "compare", *files, "--json")
    assert result.code == 0, result.err
    found = json.loads(result.out)["scripted - random"]
    assert found.keys() == {"found", "quotes", "actions", "tokens", "seconds"}
    means = [json.loads(file.read_text())[file.stem]["found"] for file in files]
    assert [found["found"]["a"], found["found"]["b"]] == pytest.approx(means, abs=1e-4)
    assert found["found"]["queries"] == 3
    assert 0 < found["found"]["p"] <= 1


def test_an_evaluation_that_was_killed_goes_on(cli: Cli, questions: Path, tmp_path: Path) -> None:
    call = ("eval", "browse", questions, *NOTES, "--systems", "scripted", "--episodes", tmp_path / "e")
    process = cli.begin(*call)
    assert process.stderr is not None
    # What is told is on the disk.
    assert any(line.startswith("scripted: 1 of 3") for line in process.stderr)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    file = tmp_path / "e" / "scripted.jsonl"
    before = file.read_bytes()
    assert before
    result = cli.run(*call)
    assert result.code == 0, result.err
    assert "scripted: 1 of 3" not in result.err
    assert "| scripted | 3 | 0.667 |" in result.out
    assert file.read_bytes().startswith(before)
    assert [episode.question for episode in read_episodes(file)] == [row["question"] for row in ROWS]
    again = cli.run(*call)
    assert (again.code, again.err) == (0, "")
    assert again.out == result.out
    file.write_bytes(file.read_bytes()[:-9])
    cut = cli.run(*call)
    assert cut.code == 0, cut.err
    assert cut.err == "scripted: 3 of 3, found 2\n"
    assert [episode.question for episode in read_episodes(file)] == [row["question"] for row in ROWS]


def test_a_search_that_fails_measures_nothing(cli: Cli, questions: Path) -> None:
    down = ("--set", "search.providers=searxng", "--set", "search.searxng_url=http://127.0.0.1:9")
    code, out, err = cli.run("eval", "browse", questions, *down, "--systems", "scripted")
    assert (code, out) == (1, "")
    assert "scripted: 1 of 3, failed: Nothing was quoted: the search failed, since" in err
    assert "scripted failed on 3 questions in a row" in err


def test_episodes_that_cannot_be_written_are_named_first(cli: Cli, questions: Path, tmp_path: Path) -> None:
    (tmp_path / "e" / "scripted.jsonl").mkdir(parents=True)
    code, out, err = cli.run("eval", "browse", questions, *NOTES, "--episodes", tmp_path / "e")
    assert (code, out) == (2, "")
    assert "scripted.jsonl is a folder" in err
    assert "random: 1 of 3" not in err


def test_statistics_of_what_was_kept(cli: Cli, tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for number, file in enumerate(files, 1):
        steps = (Step("s", "Search bats", "search", tokens=4), Step("s", "fly", "invalid", "no command"))
        write_episodes([Episode(str(number), BATS, "test", steps * number, (), "actions", seconds=3.0)], file)
    result = cli.run("eval", "browse", "--stats", *files)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("2 episodes\n")
    rows = {
        cells[0]: cells[1:]
        for line in result.out.splitlines()
        if (cells := [cell.strip() for cell in line.strip("|").split("|")])
    }
    assert rows["search"] == ["1.50", "4.00", "6.00"]
    assert rows["invalid"][0] == "1.50"
    assert rows["seconds"][-1] == "3.00"


EPISODE = b'{"id": "1", "question": "Why?", "policy": "p", "steps": [], "quotes": [], "ending": "Answer"}\n'
BAD_EPISODES = {
    "missing": (None, "cannot be read: No such file"),
    "empty": (b"\n", "The files hold no episodes."),
    "no episode": (EPISODE + b'{"question": "Why?"}\n', "line 2: not a valid episode"),
    "cut": (EPISODE + EPISODE[:40], "line 2: not a valid episode"),
    "no UTF-8": (EPISODE.replace(b"Why", b"\xff"), "line 1: not UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BAD_EPISODES.values(), ids=BAD_EPISODES)
def test_files_without_episodes(cli: Cli, tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "episodes.jsonl"
    if content is not None:
        file.write_bytes(content)
    code, out, err = cli.run("eval", "browse", "--stats", file)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


BAD_QUESTIONS = {
    "missing": (None, "cannot be read: No such file"),
    "empty": (b"", "holds no questions."),
    "no JSON": (b"Why?\n", "line 1: not a valid question: JSON is malformed"),
    "no answers": (
        b'{"question": "Why?"}\n',
        "line 1: the question has no accepted answer.",
    ),
    "no UTF-8": (b'{"question": "\xff", "answers": []}\n', "line 1: not UTF-8"),
}


@pytest.mark.parametrize(("content", "message"), BAD_QUESTIONS.values(), ids=BAD_QUESTIONS)
def test_files_without_questions(cli: Cli, tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "questions.jsonl"
    if content is not None:
        file.write_bytes(content)
    code, out, err = cli.run("eval", "browse", file, *NOTES)
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


MISTAKES = {
    "unknown system": (("--systems", "scripted,no-such-model"), 2, "Unknown model 'no-such-model'"),
    "no language model": (("--systems", "scripted,extractive"), 1, "extractive is not a language model"),
    "best of a script": (("--systems", "scripted,2*scripted"), 2, "scripted cannot browse 2 times"),
    "best of the pipeline": (("--systems", "scripted,2*pipeline"), 2, "2 episodes would be equal"),
    "no system": (("--systems", " ,"), 2, "--systems names no system."),
    "unknown baseline": (("--baseline", "pipeline"), 2, "The baseline 'pipeline' is not among the systems"),
    "unknown collection": (("--collection", "nothing"), 2, "There is no collection 'nothing'"),
    "no folder to write to": (("--json", "none/found.json"), 2, "does not exist"),
    "episodes in a file": (("--episodes", "questions.jsonl/e"), 2, "cannot be created: Not a directory"),
    "two files": (("questions.jsonl",), 2, "Only one file of questions can be given."),
}


@pytest.mark.parametrize(("options", "code", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_named_before_anything_is_asked(
    cli: Cli, questions: Path, options: tuple[str, ...], code: int, message: str
) -> None:
    result = cli.run("eval", "browse", questions, *NOTES, *options)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert "Traceback" not in result.err
    assert " of 3, found" not in result.err


def test_the_extra_is_named_where_it_is_missing(cli: Cli, questions: Path, tmp_path: Path) -> None:
    hidden = (
        "import sys\n"
        "class Hiding:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'html2text':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hiding())\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hidden)
    code, out, err = cli.run("eval", "browse", questions, *NOTES, env={"PYTHONPATH": str(tmp_path)})
    assert (code, out) == (2, "")
    assert "Browsing needs the package html2text, which is not installed." in err
    assert "[browser]'" in err
