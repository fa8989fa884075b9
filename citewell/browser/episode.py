"""An episode: a question, every state and command, the quotes, and the answer; one line of JSONL each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from citewell.browser.state import TakenQuote
from citewell.core.jsonl import Line, read_lines, write_values

Ending = Literal["Answer", "Nonsense", "Controversial", "actions", "quotes", "abandoned"]
"""The outcome of `End`, the limit that ended the episode, or `abandoned`."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command and the state it was given in. `kind` is `citewell.browser.commands.Kind`, or `invalid`."""

    state: str
    command: str
    kind: str
    reason: str | None = None
    """Why the command was invalid; None for a valid one."""
    title: str | None = None
    """The title of the page that the command led to; None while no page is open."""
    url: str | None = None
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A whole episode. `policy` names the policy or person; `reward` is None if nobody judged it."""

    id: str
    question: str
    policy: str
    steps: tuple[Step, ...]
    quotes: tuple[TakenQuote, ...]
    ending: Ending
    answer: str | None = None
    reward: float | None = None
    created: str | None = None
    seconds: float = 0.0
    about: dict[str, str] = field(default_factory=dict)
    """Metadata, such as the source of the question, its license, and the demonstrator."""

    @property
    def can_be_answered(self) -> bool:
        """True if something was quoted, and the answer was not skipped."""
        return bool(self.quotes) and self.ending not in {"Nonsense", "Controversial"}


def read_episodes(file: Path) -> Iterator[Episode]:
    """Yield the episodes of a file; raises `InputError` with the line number of an invalid one."""
    return map(episode_of, read_lines(file))


def episode_of(line: Line) -> Episode:
    """Return the episode of a line; raises `InputError` with the line number of an invalid one."""
    return line.value(Episode, "episode", "docs/browser-data.md describes the format.")


def write_episodes(episodes: Iterable[Episode], file: Path) -> None:
    """Write a file of episodes, one JSON object per line."""
    write_values(episodes, file)
