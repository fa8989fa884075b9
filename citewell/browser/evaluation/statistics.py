"""Statistics of episodes: frequency and tokens of each action (WebGLM's Tables 11 and 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from citewell.browser.episode import Episode
from citewell.core.tables import markdown_table

KINDS = (
    "search",
    "click_link",
    "quote",
    "back",
    "scroll_down",
    "scroll_up",
    "top",
    "end",
    "find_in_page",
    "invalid",
)
"""The kinds of actions in the order of the tables."""


@dataclass(frozen=True, slots=True)
class EpisodeStatistics:
    """Counts of `episodes`; `actions` and `tokens` by the kind of action. `seconds` are of whole episodes."""

    episodes: int
    actions: Counter[str]
    tokens: Counter[str]
    seconds: float

    def table(self) -> str:
        """Return WebGLM's table: actions per question, tokens per action and per question, and totals."""
        rows = [
            [
                kind,
                f"{self.actions[kind] / self.episodes:.2f}",
                f"{self.tokens[kind] / max(1, self.actions[kind]):.2f}",
                f"{self.tokens[kind] / self.episodes:.2f}",
            ]
            for kind in KINDS
        ]
        total, tokens = self.actions.total() / self.episodes, self.tokens.total() / self.episodes
        each = self.tokens.total() / max(1, self.actions.total())
        rows.append(["all", f"{total:.2f}", f"{each:.2f}", f"{tokens:.2f}"])
        rows.append(["seconds", "", "", f"{self.seconds / self.episodes:.2f}"])
        return markdown_table(["action", "count/query", "tokens/action", "tokens/query"], rows)


def statistics(episodes: Iterable[Episode], count: Callable[[str], int]) -> EpisodeStatistics:
    """Count all steps; steps of people and scripts get the tokens that `count` returns for their commands."""
    number, seconds = 0, 0.0
    actions, tokens = Counter[str](), Counter[str]()
    for episode in episodes:
        number += 1
        seconds += episode.seconds
        for step in episode.steps:
            actions[step.kind] += 1
            tokens[step.kind] += step.tokens or count(step.command)
    return EpisodeStatistics(number, actions, tokens, seconds)
