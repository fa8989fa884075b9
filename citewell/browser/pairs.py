"""Training pairs of episodes: a state's text and the command that was given in it, and the answer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from citewell.browser.answering import answering_prompt
from citewell.browser.commands import Invalid, Kind, kind_of, parse
from citewell.browser.episode import Episode
from citewell.browser.policies.human import Human

Learned = Kind | Literal["answer"]
"""What a policy learns to write: a kind of command, or the answer."""


class StateCommand(NamedTuple):
    """A step of a demonstration. `command` is in the browser's notation.

    In the last step, of the kind `answer`, `state` is the prompt for the answer, and `command` the answer.
    """

    question: str
    state: str
    command: str
    kind: Learned


def pairs(episode: Episode, state_tokens: int) -> Iterator[StateCommand]:
    """Yield the steps of an episode whose command was valid, and its answer if one was written from quotes.

    The prompt of the answer has at most `state_tokens`, as states have.
    """
    for step in episode.steps:
        command = parse(step.command)
        if step.kind != "invalid" and not isinstance(command, Invalid):
            yield StateCommand(episode.question, step.state, str(command), kind_of(command))
    if episode.answer and episode.quotes:
        prompt = answering_prompt(episode.question, dict(enumerate(episode.quotes, 1)), state_tokens)
        yield StateCommand(episode.question, prompt, episode.answer, "answer")


def accepted(episodes: Iterable[Episode], least: float) -> Iterator[Episode]:
    """Yield the episodes to learn from: those with a reward of at least `least`, and unjudged ones of people.

    What people demonstrate is cloned without a reward (WebGPT, section 3.2), but only if they went on to
    answer from quotes.
    """
    return (episode for episode in episodes if _is_accepted(episode, least))


def _is_accepted(episode: Episode, least: float) -> bool:
    if episode.reward is not None:
        return episode.reward >= least
    return episode.policy == Human.name and episode.can_be_answered and episode.ending != "abandoned"


def balanced(found: Sequence[StateCommand], most: Mapping[Learned, int], seed: int) -> list[StateCommand]:
    """Return at most `most` pairs of each kind, drawn by `seed`; kinds without a maximum are kept in full.

    Each state is kept once. The order is preserved.
    """
    once = list({(pair.state, pair.command): pair for pair in found}.values())
    order = list(range(len(once)))
    random.Random(f"{seed} pairs").shuffle(order)  # noqa: S311
    counts = Counter[Learned]()
    kept = []
    for place in order:
        kind = once[place].kind
        if counts[kind] < most.get(kind, len(once)):
            counts[kind] += 1
            kept.append(place)
    return [once[place] for place in sorted(kept)]
