"""The protocol of browsing policies."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from citewell.browser.state import State


class Action(NamedTuple):
    """A command as it was written, and the tokens that a model needed for it (0 for people and scripts)."""

    text: str
    tokens: int = 0


class Policy(Protocol):
    """A policy chooses the next command from the state alone."""

    name: str

    async def act(self, state: State) -> Action:
        """Return the next command, as text that `citewell.browser.commands.parse` reads."""
        ...
