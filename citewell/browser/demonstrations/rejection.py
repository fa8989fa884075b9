"""Rejection sampling: a script browses for many questions, and episodes that find the answer are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import Question, finished
from citewell.browser.evaluation.success import succeeds
from citewell.browser.policy import Policy
from citewell.core.answers import has_answer


class Known(NamedTuple):
    """A question with known accepted answers; `about` is copied to its episodes."""

    question: str
    answers: tuple[str, ...]
    about: Mapping[str, str]


MakePolicy = Callable[[Known], Policy]


async def demonstrate(
    known: Iterable[Known],
    start: Callable[[], Browser],
    policy: MakePolicy,
    *,
    actions: int,
    at_once: int,
) -> AsyncGenerator[Episode, None]:
    """Yield an episode for each question, `at_once` at a time, with reward 1 for success and 0 otherwise.

    `start` makes the browsers. All episodes are yielded as they end, so that the caller can count the
    rejected ones; `citewell.browser.pairs.accepted` selects the accepted ones.
    """
    waiting = iter(known)

    async def one(row: Known) -> Episode:
        episode = await finished(start(), policy(row), Question(row.question, actions=actions))
        reward = float(succeeds(episode, row.answers))
        return replace(to_the_point(episode, row.answers), reward=reward, about=dict(row.about))

    running: set[asyncio.Task[Episode]] = set()
    try:
        while True:
            running |= {asyncio.create_task(one(row)) for row in islice(waiting, at_once - len(running))}
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def to_the_point(episode: Episode, answers: Sequence[str]) -> Episode:
    """Return the episode without the steps that quoted a passage without an answer.

    The later states are unchanged and still show these steps.
    """
    quotes = iter(episode.quotes)
    steps = []
    for step in episode.steps:
        if step.kind == "quote" and not has_answer(next(quotes).text, answers):
            continue
        steps.append(step)
    return replace(episode, steps=tuple(steps))
