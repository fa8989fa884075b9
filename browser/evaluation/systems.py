"""What is evaluated: policies in a browser, and whatever else finds references for a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from browser.environment import Browser
from browser.episode import Episode
from browser.episodes import Question, finished
from browser.policies.best_of import Rate, best, variants
from browser.policy import Policy

CHOSEN = "chosen"
"""The key of `Episode.about` that says, by `no`, that another episode of the question was chosen."""


class System(Protocol):
    """Answers questions with quotes."""

    name: str

    async def browse(self, question: str) -> list[Episode]:
        """The episodes of a question; those that were not chosen say so under `CHOSEN`."""
        ...


class PolicySystem:
    """A policy; with `n` above 1, the best of as many episodes as `rate` has it."""

    def __init__(
        self, name: str, policy: Policy, start: Callable[[], Browser], *, n: int, actions: int, rate: Rate
    ) -> None:
        """`start` makes browsers; an episode has at most `actions` commands.

        Raises `InputError` for several episodes of a policy that always does the same.
        """
        self.name = name
        self._policies = variants(policy, n)
        self._start = start
        self._actions = actions
        self._rate = rate

    async def browse(self, question: str) -> list[Episode]:
        """Browse, one episode after the other."""
        asked = Question(question, actions=self._actions)
        return chosen([await finished(self._start(), each, asked) for each in self._policies], self._rate)


def chosen(episodes: Sequence[Episode], rate: Rate) -> list[Episode]:
    """The episodes, of which all but the best say that they were not chosen."""
    winner = best(episodes, rate)
    return [
        episode if episode is winner else replace(episode, about={**episode.about, CHOSEN: "no"})
        for episode in episodes
    ]
