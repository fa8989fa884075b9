"""Rejection sampling: a script browses for many questions, and what found the answer is a demonstration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import Question, finished
from citewell.browser.evaluation.success import has_answer, succeeds
from citewell.browser.policy import Policy


class Known(NamedTuple):
    """A question whose accepted answers are known; `about` goes with its episodes."""

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
    """An episode for each question, `at_once` at a time, with its reward: 1 for success, else 0.

    `start` makes the browsers. All episodes are yielded, as they end, so that it can be counted how many are
    rejected; `citewell.browser.pairs.rewarded` chooses among them.
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
    """Without steps that took a quote without an answer: they are not to be learned.

    The states after them stay as they were, and show what was done.
    """
    quotes = iter(episode.quotes)
    steps = []
    for step in episode.steps:
        if step.kind == "quote" and not has_answer(next(quotes).text, answers):
            continue
        steps.append(step)
    return replace(episode, steps=tuple(steps))
