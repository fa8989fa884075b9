"""The loop in which a policy browses, for one episode or for many at a time."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from citewell.browser.environment import Browser
from citewell.browser.episode import Ending, Episode, Step
from citewell.browser.policy import Policy
from citewell.browser.state import State


class StepTaken(NamedTuple):
    """Event: a step was taken and led to this state."""

    step: Step
    state: State


class Ended(NamedTuple):
    """Event: the episode ended."""

    episode: Episode


class Question(NamedTuple):
    """A question to browse for, with a reference answer and a maximum of actions, both optional."""

    text: str
    answer: str = ""
    actions: int | None = None


class EpisodeLog:
    """The steps of the current episode."""

    def __init__(self, policy: str, about: Mapping[str, str] | None = None) -> None:
        """Begin now; `policy` names the policy or person, and `about` is metadata."""
        self._policy = policy
        self._about = dict(about or {})
        self._created = datetime.now(UTC).isoformat(timespec="seconds")
        self._started = time.perf_counter()
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Add the next step."""
        self._steps.append(step)

    def episode(self, browser: Browser, ending: Ending) -> Episode:
        """Return the episode that `browser` has just ended."""
        return Episode(
            id=uuid.uuid4().hex,
            question=browser.question,
            policy=self._policy,
            steps=tuple(self._steps),
            quotes=browser.quotes,
            ending=ending,
            created=self._created,
            seconds=round(time.perf_counter() - self._started, 6),
            about=self._about,
        )


async def run_episode(
    browser: Browser,
    policy: Policy,
    question: str,
    *,
    answer: str = "",
    actions: int | None = None,
    about: Mapping[str, str] | None = None,
    broken_off: Callable[[Episode], object] = lambda episode: None,
) -> AsyncGenerator[StepTaken | Ended, None]:
    """Browse for an answer; yield each step when it is taken, and finally the episode.

    The seconds of a step cover the policy's choice of the command and the browser's execution of it. Raises
    `InputError` as `Browser.reset` does, `ServiceError` as `Browser.check_search` does at the end, and the
    errors of the policy. `broken_off` then receives the episode so far, also if the caller is canceled.
    """
    notes = EpisodeLog(policy.name, about)
    state = await browser.reset(question, answer=answer, actions=actions)
    ending: Ending | None = None
    try:
        while ending is None:
            before = time.perf_counter()
            action = await policy.act(state)
            state, step, ending = await browser.step(action.text)
            seconds = round(time.perf_counter() - before, 6)
            step = replace(step, tokens=action.tokens, seconds=seconds)
            notes.add(step)
            yield StepTaken(step, state)
        browser.check_search()
    except BaseException:
        broken_off(notes.episode(browser, ending or "abandoned"))
        raise
    yield Ended(notes.episode(browser, ending))


async def finished(browser: Browser, policy: Policy, question: Question) -> Episode:
    """Run a question to its end and return the episode."""
    episode = run_episode(browser, policy, question.text, answer=question.answer, actions=question.actions)
    async with aclosing(episode) as events:
        async for event in events:
            if isinstance(event, Ended):
                return event.episode
    raise AssertionError("an episode ends")


async def run_many(
    questions: Iterable[Question], start: Callable[[], Browser], policy: Policy, *, at_once: int
) -> AsyncGenerator[Episode, None]:
    """Browse for many questions, `at_once` at a time; yields each episode as it ends.

    `start` makes a browser for each running episode. Questions are read on demand, so that neither many
    questions nor a slow consumer take more memory. An error of one episode ends all of them.
    """
    waiting = iter(questions)
    idle: list[Browser] = []
    running: dict[asyncio.Task[Episode], Browser] = {}
    try:
        while True:
            while len(running) < at_once and (question := next(waiting, None)) is not None:
                browser = idle.pop() if idle else start()
                running[asyncio.create_task(finished(browser, policy, question))] = browser
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                idle.append(running.pop(task))
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
