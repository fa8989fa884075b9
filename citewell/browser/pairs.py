"""Training pairs of episodes: a state's text, and the command that was given in it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from citewell.browser.commands import Invalid, Kind, kind_of, parse
from citewell.browser.episode import Episode


class StateCommand(NamedTuple):
    """A step of a demonstration. `command` is in the browser's notation."""

    question: str
    state: str
    command: str
    kind: Kind


def pairs(episode: Episode) -> Iterator[StateCommand]:
    """Yield the steps of an episode whose command was valid."""
    for step in episode.steps:
        command = parse(step.command)
        if step.kind != "invalid" and not isinstance(command, Invalid):
            yield StateCommand(episode.question, step.state, str(command), kind_of(command))


def rewarded(episodes: Iterable[Episode], least: float) -> Iterator[Episode]:
    """Yield the episodes with a reward of at least `least`; skip episodes without a reward."""
    return (episode for episode in episodes if episode.reward is not None and episode.reward >= least)


def balanced(found: Sequence[StateCommand], most: Mapping[Kind, int], seed: int) -> list[StateCommand]:
    """Return at most `most` pairs of each kind, drawn by `seed`; kinds without a maximum are kept in full.

    Each state is kept once. The order is preserved.
    """
    once = list({(pair.state, pair.command): pair for pair in found}.values())
    order = list(range(len(once)))
    random.Random(f"{seed} pairs").shuffle(order)  # noqa: S311
    counts = Counter[Kind]()
    kept = []
    for place in order:
        kind = once[place].kind
        if counts[kind] < most.get(kind, len(once)):
            counts[kind] += 1
            kept.append(place)
    return [once[place] for place in sorted(kept)]
