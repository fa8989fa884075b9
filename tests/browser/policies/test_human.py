"""A person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from citewell.browser.policies.human import HELP, Human, written_out
from citewell.browser.state import State

from .states import page


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("s spring tides", "Search spring tides"),
        ("3", "Clicked on link 3"),
        ("f Moon", "Find in page: Moon"),
        ("q Its gravity", "Quote: Its gravity"),
        ("q Its gravity .. towards it.", "Quote: Its gravity ━ towards it."),
        ("q Wait... what is it", "Quote: Wait... what is it"),
        ("d", "Scrolled down 1"),
        ("ddd", "Scrolled down 3"),
        ("uu", "Scrolled up 2"),
        ("t", "Top"),
        ("b", "Back"),
        ("e", "End: Answer"),
        ("e nonsense", "End: Nonsense"),
        ("e controversial", "End: Controversial"),
        (" Clicked on link 3\n", "Clicked on link 3"),
    ],
)
def test_short_forms(line: str, command: str) -> None:
    assert written_out(line) == command


class Terminal:
    """Types lines, and keeps what is shown."""

    def __init__(self, *lines: str) -> None:
        self._lines: Iterator[str] = iter(lines)
        self.shown: list[State] = []
        self.told: list[str] = []

    def human(self) -> Human:
        return Human(self.shown.append, self._line, self.told.append)

    def _line(self) -> str:
        for line in self._lines:
            return line
        raise EOFError


async def test_what_is_no_command_takes_no_action() -> None:
    terminal = Terminal("open the page", "?", "0\n")
    assert (await terminal.human().act(page())).text == "Clicked on link 0"
    assert terminal.shown == [page()]
    assert terminal.told == ["it is not one of the commands; ? lists commands.", HELP]


async def test_the_end_of_the_input_ends_browsing() -> None:
    assert (await Terminal().human().act(page())).text == "End: Answer"
