"""The systems under evaluation: policies in a browser, and other systems that find references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import Question, finished
from citewell.browser.policies.best_of import EpisodeJudge, best, variants
from citewell.browser.policy import Policy

CHOSEN = "chosen"
"""The key of `Episode.about` that says, by `no`, that another episode of the question was chosen."""

JUDGE = "judge"
"""The key of `Episode.about` that names the judge that chose among several episodes of the question."""

BEST_OF = "best_of"
"""The key of `Episode.about` that counts these several episodes."""


class BrowsingSystem(Protocol):
    """A system that answers questions with quotes."""

    name: str

    async def browse(self, question: str) -> list[Episode]:
        """Return the episodes of a question; those that were not chosen say so under `CHOSEN`.

        If there are several, each names the judge under `JUDGE`, and their number under `BEST_OF`.
        """
        ...


class PolicySystem:
    """A policy; with `n` above 1, the best of `n` episodes by `judge`."""

    def __init__(
        self,
        name: str,
        policy: Policy,
        start: Callable[[], Browser],
        *,
        n: int,
        actions: int,
        judge: EpisodeJudge,
    ) -> None:
        """`start` makes browsers; an episode has at most `actions` commands.

        Raises `InputError` for several episodes of a policy that does not sample its commands.
        """
        self.name = name
        self._policies = variants(policy, n)
        self._start = start
        self._actions = actions
        self._judge = judge

    async def browse(self, question: str) -> list[Episode]:
        """Browse, one episode after the other."""
        asked = Question(question, actions=self._actions)
        episodes = [await finished(self._start(), each, asked) for each in self._policies]
        return chosen(episodes, self._judge) if len(episodes) > 1 else episodes


def chosen(episodes: Sequence[Episode], judge: EpisodeJudge) -> list[Episode]:
    """Return the episodes labeled with their number and judge; all but the best are marked as not chosen."""
    winner = best(episodes, judge.rate)
    about = {JUDGE: judge.name, BEST_OF: f"{len(episodes)}"}
    others = {CHOSEN: "no", **about}
    return [
        replace(episode, about=episode.about | (about if episode is winner else others))
        for episode in episodes
    ]
