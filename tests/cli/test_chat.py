"""`citewell chat`: a conversation on the terminal, between pipes, and with Ctrl-C."""

from __future__ import annotations

import os
import select
import signal
import time
from typing import TYPE_CHECKING

from tests.cli.test_ask import BATS, NOTES

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

FOLLOW_UP = "What do they send out?"
REWRITTEN = "Answered as: What do bats send out?"


def test_lines_of_a_pipe_are_a_conversation(cli: Cli) -> None:
    code, out, err = cli.run("chat", *NOTES, input=f"{BATS}\n\n{FOLLOW_UP}\n")
    assert (code, err) == (0, "")
    first, _, second = out.partition(f"> {FOLLOW_UP}\n")
    assert first.startswith(f"> {BATS}\n")
    assert "echolocation" in first
    assert "Answered as" not in first
    assert second.startswith(REWRITTEN)
    assert "\n\nReferences\n" in second


def test_answers_are_printed_as_json(cli: Cli) -> None:
    result = cli.run("chat", "--json", *NOTES, input=f"{BATS}\n{FOLLOW_UP}")
    first, second = result.objects()
    assert first["rewritten"] is None
    assert (second["question"], second["rewritten"]) == (FOLLOW_UP, REWRITTEN.removeprefix("Answered as: "))


def test_an_error_does_not_end_the_conversation(cli: Cli) -> None:
    code, out, err = cli.run("chat", *NOTES, input=f"{'x' * 30_000}\n{BATS}\n")
    assert code == 2
    assert "at most" in err
    assert "echolocation" in out


def test_a_word_with_a_slash_is_no_question_and_help_says_what_is(cli: Cli) -> None:
    code, out, err = cli.run("chat", *NOTES, input=f"/help\n/quit now\n{BATS}\n")
    assert code == 0
    assert out.count("> ") == 1  # the question
    helped, _, unknown = err.partition("/quit is unknown.\n")
    assert "Type a question" in helped
    assert "Ctrl-D  ends" in helped
    assert unknown == helped


def test_ctrl_c_stops_an_answer_and_ctrl_d_ends(cli: Cli) -> None:
    leader, follower = os.openpty()
    pipes = {"stdin": follower, "stdout": follower, "stderr": follower, "text": False}
    with cli.start("chat", *NOTES, **pipes) as process:
        os.close(follower)
        try:
            shown = Screen(leader)
            shown.wait_for("> ")
            os.killpg(process.pid, signal.SIGINT)
            shown.wait_for("Ctrl-D ends.")
            os.write(leader, f"{BATS}\n".encode())
            shown.wait_for("Searched the collection notes")
            os.write(leader, f"{FOLLOW_UP}\n".encode())
            shown.wait_for(REWRITTEN)
            shown.wait_for("Searched the collection notes")
            os.write(leader, b"\x04")
            assert process.wait(60) == 0
        finally:
            process.kill()
    os.close(leader)


class Screen:
    """What a terminal shows, read piece by piece."""

    def __init__(self, leader: int) -> None:
        self._leader = leader
        self._unread = ""

    def wait_for(self, text: str) -> None:
        """Read to the end of a text."""
        end = time.monotonic() + 60
        while text not in self._unread:
            assert time.monotonic() < end, self._unread
            if select.select([self._leader], [], [], 1)[0]:
                self._unread += os.read(self._leader, 65536).decode(errors="replace")
        self._unread = self._unread.partition(text)[2]
