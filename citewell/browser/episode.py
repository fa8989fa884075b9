"""An episode: a question, every state and command, the quotes, and the answer; one line of JSONL each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from citewell.browser.state import TakenQuote
from citewell.core.jsonl import read_lines, write_values

Ending = Literal["Answer", "Nonsense", "Controversial", "actions", "quotes", "abandoned"]
"""The outcome of `End`, or the limit that ended the episode, or that nobody ended it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command and the state it was given in. `kind` is `citewell.browser.commands.Kind`, or `invalid`."""

    state: str
    command: str
    kind: str
    reason: str = ""
    """Why the command was invalid; empty for a valid one."""
    title: str = ""
    """The title of the page that the command led to."""
    url: str = ""
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A whole episode. `policy` says who browsed; `reward` is empty where nobody judged it."""

    id: str
    question: str
    policy: str
    steps: tuple[Step, ...]
    quotes: tuple[TakenQuote, ...]
    ending: Ending
    answer: str = ""
    reward: float | None = None
    created: str = ""
    seconds: float = 0.0
    about: dict[str, str] = field(default_factory=dict)
    """What else is known: where the question is from, its licence, who demonstrated."""


def read_episodes(file: Path) -> Iterator[Episode]:
    """The episodes of a file; raises `InputError` that names the line of one that is none."""
    for line in read_lines(file):
        yield line.value(Episode, "episode", "docs/browser-data.md describes the format.")


def write_episodes(episodes: Iterable[Episode], file: Path) -> None:
    """Write a file of episodes, one JSON object a line."""
    write_values(episodes, file)
