"""The order of questions: few at once, a bounded queue, and one run for equal questions."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event, Ranked
from citewell.core.types import Reference
from citewell.server.store.answers import StoredAnswer
from citewell.server.work.errors import (
    AnswerLateError,
    CancelledError,
    InternalError,
    QueueFullError,
    QueueLateError,
    QueueShareError,
    StoppingError,
    explained,
)
from citewell.server.work.event_log import QuestionQueued, Started
from citewell.server.work.history import QuestionHistory, Result
from citewell.server.work.subscription import Keep, RunEnd, SharedQuestion, Subscription
from citewell.server.work.turns import FairTurns, full_share

Work = Callable[[], AsyncGenerator[Event, None]]
"""A function that starts the work on a question, which ends with `Done`."""

_KEPT_SECONDS = 60.0  # that the events of a finished question are kept
_MOST_KEPT = 300  # finished questions whose events are kept
_FIRST_GUESS = 1.0  # seconds per question, before the first measurement
_WEIGHT = 0.2  # of the newest measurement
_LONGEST_WAIT = 60.0  # seconds that a client is asked to wait before it tries again

_LOG = logging.getLogger("citewell.questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """The numbers of questions that may run and wait at once, and their time limits in seconds."""

    concurrency: int = 2
    queue: int = 32
    queue_seconds: float = 30.0
    answer_seconds: float = 300.0
    resume_seconds: float = 5.0

    @property
    def places(self) -> int:
        """The number of questions that may run or wait at once."""
        return self.concurrency + self.queue


class QuestionObserver(Protocol):
    """An observer of questions, called between two steps of the event loop: it must be fast."""

    def on_event(self, event: Event) -> None:
        """Note an event of the work on a question; work that several callers share yields it once."""

    def on_end(self, history: QuestionHistory) -> None:
        """Note that a question has ended for one caller, or was refused."""


class QuestionQueue:
    """A queue that runs questions in turn. All methods belong to one event loop."""

    def __init__(self, limits: QueueLimits, observers: Sequence[QuestionObserver] = ()) -> None:
        self._limits = limits
        self._observers = observers
        self._turns = FairTurns(limits.concurrency)
        self._running: dict[str, SharedQuestion] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._subscriptions: dict[str, Subscription] = {}
        self._usual_seconds = _FIRST_GUESS
        self._is_closing = False

    @property
    def running(self) -> int:
        """The number of questions being answered."""
        return min(len(self._running), self._limits.concurrency)

    @property
    def waiting(self) -> int:
        """The number of questions waiting for their turn."""
        return len(self._running) - self.running

    def is_full(self, digest: str) -> bool:
        """Return whether a question with this digest would be refused because too many wait."""
        return digest not in self._running and len(self._running) >= self._limits.places

    def join(self, asked: StoredAnswer, work: Work, keep: Keep | None = None) -> Subscription:
        """Start the work on a question, or follow the run of the same digest.

        `keep` stores the outcome of the question. Raises `QueueFullError` if too many questions wait,
        `QueueShareError` if too many of its key do, and `StoppingError` once the queue is being closed.
        """
        history = QuestionHistory(asked.id, asked.mode)
        try:
            self._check_capacity(asked.digest, asked.key_id)
        except CitewellError as error:
            self._end(history, "refused", error)
            raise
        run = self._running.get(asked.digest) or self._start(asked, work, history)
        subscription = self._subscribe(asked, run, history, keep)
        run.subscriptions.add(subscription)
        self._register(subscription)
        return subscription

    def give_again(self, answer: StoredAnswer) -> Subscription:
        """Return a subscription to a known answer, kept for callers that reconnect."""
        subscription = self.replay(answer)
        self._end(subscription.history, "cached")
        self._register(subscription)
        self._release_later([subscription])
        return subscription

    def replay(self, answer: StoredAnswer) -> Subscription:
        """Return a subscription to a finished question, as a short stream of events."""
        history = QuestionHistory(answer.id, answer.mode)
        run = SharedQuestion("", answer.key_id, history)
        if answer.body is not None:
            references = msgspec.convert(answer.body["references"], tuple[Reference, ...])
            run.log.add(Ranked(references, relevant=answer.body["outcome"] != "no_evidence"))
        run.log.close()
        return self._subscribe(answer, run, history, None)

    def subscription(self, answer_id: str) -> Subscription | None:
        """Return the subscription to an answer, while its question runs and for a minute after."""
        return self._subscriptions.get(answer_id)

    def cancel(self, answer_id: str) -> bool:
        """Give up the claim on an answer; returns whether this queue knows it. Its end is stored."""
        subscription = self._subscriptions.get(answer_id)
        if subscription is not None:
            subscription.leave()
        return subscription is not None

    def forget(self, answer_id: str) -> None:
        """Give up the claim on an answer, and drop its events."""
        subscription = self._subscriptions.pop(answer_id, None)
        if subscription is not None:
            subscription.leave()

    async def close(self) -> None:
        """Refuse new questions, cancel the running ones, and wait until all ends are stored."""
        self._is_closing = True
        for run in list(self._running.values()):
            self._cancel(run)
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _check_capacity(self, digest: str, key: str | None) -> None:
        if self._is_closing:
            raise StoppingError
        if self.is_full(digest):
            raise QueueFullError(len(self._running), self._retry_after())
        if digest not in self._running:
            taken = (run.key for run in self._running.values())
            if count := full_share(key, taken, self._limits.places):
                raise QueueShareError(count, self._retry_after())

    def _start(self, asked: StoredAnswer, work: Work, history: QuestionHistory) -> SharedQuestion:
        run = self._running[asked.digest] = SharedQuestion(asked.digest, asked.key_id, history)
        if len(self._running) > self._limits.concurrency:
            run.log.add(QuestionQueued(len(self._running) - 1))
        run.task = asyncio.create_task(self._answer(run, work))
        self._in_background(self._attend(run, run.task))
        return run

    def _subscribe(
        self, asked: StoredAnswer, run: SharedQuestion, history: QuestionHistory, keep: Keep | None
    ) -> Subscription:
        return Subscription(
            asked, run, history, self._leave, keep=keep, resume_seconds=self._limits.resume_seconds
        )

    def _leave(self, subscription: Subscription) -> None:
        run = subscription.run
        if self._running.get(run.digest) is not run or subscription not in run.subscriptions:
            return
        if len(run.subscriptions) == 1:
            self._cancel(run)
            return
        run.subscriptions.discard(subscription)
        self._subscriptions.pop(subscription.answer.id, None)
        self._in_background(self._finish([subscription], RunEnd("cancelled", error=CancelledError())))

    def _cancel(self, run: SharedQuestion) -> None:
        # Removed at once: a caller with the same question must not join a run that is being cancelled.
        del self._running[run.digest]
        if run.task is not None:
            run.task.cancel()

    async def _attend(self, run: SharedQuestion, answering: asyncio.Task[dict[str, Any]]) -> None:
        """Wait for the answer, and finish all subscriptions; this task is never cancelled."""
        await asyncio.wait({answering})
        if self._running.get(run.digest) is run:
            del self._running[run.digest]
        subscriptions, run.subscriptions = run.subscriptions, set()
        await self._finish(subscriptions, _end_of(answering))
        run.log.close()
        self._release_later(subscriptions)

    async def _answer(self, run: SharedQuestion, work: Work) -> dict[str, Any]:
        async with self._turn(run.key):
            run.log.add(Started())
            return await self._run(run, work)

    @asynccontextmanager
    async def _turn(self, key: str | None) -> AsyncGenerator[None, None]:
        try:
            async with asyncio.timeout(self._limits.queue_seconds):
                await self._turns.acquire(key)
        except TimeoutError:
            raise QueueLateError(self._limits.queue_seconds, self._retry_after()) from None
        try:
            yield
        finally:
            self._turns.release()

    async def _run(self, run: SharedQuestion, work: Work) -> dict[str, Any]:
        """Work on the question, log each event, and return the JSON of the answer."""
        run.history.begin()
        began = time.monotonic()
        limit = asyncio.timeout(self._limits.answer_seconds)
        try:
            async with limit, aclosing(work()) as events:
                async for event in events:
                    run.history.note(event)
                    for observer in self._observers:
                        observer.on_event(event)
                    if isinstance(event, Done):
                        self._usual_seconds += _WEIGHT * (time.monotonic() - began - self._usual_seconds)
                        return event.answer.to_json()
                    run.log.add(event)
        except TimeoutError:
            if limit.expired():
                raise AnswerLateError(self._limits.answer_seconds) from None
            raise
        raise AssertionError("a pipeline ends with Done")

    def _retry_after(self) -> float:
        """Estimate when a question is accepted: once half of the present ones are answered."""
        rounds = math.ceil(max(len(self._running), 1) / self._limits.concurrency / 2)
        return min(max(self._usual_seconds * rounds, 1.0), _LONGEST_WAIT)

    async def _finish(self, subscriptions: Collection[Subscription], end: RunEnd) -> None:
        for subscription in subscriptions:
            subscription.finish(end)
        storing = [each.keep(each.answer) for each in subscriptions if each.keep]
        # A failure to store must not keep the answer from the other callers.
        for error in await asyncio.gather(*storing, return_exceptions=True):
            if error is not None:
                _LOG.error("The end of a question was not stored.", exc_info=error)
        for subscription in subscriptions:
            self._tell_end(subscription.history)

    def _end(self, history: QuestionHistory, result: Result, error: CitewellError | None = None) -> None:
        history.end(result, error)
        self._tell_end(history)

    def _tell_end(self, history: QuestionHistory) -> None:
        for observer in self._observers:
            observer.on_end(history)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _register(self, subscription: Subscription) -> None:
        self._subscriptions[subscription.answer.id] = subscription
        if len(self._subscriptions) > _MOST_KEPT:
            oldest = next((each for each in self._subscriptions.values() if each.has_ended), None)
            if oldest is not None:
                del self._subscriptions[oldest.answer.id]

    def _release_later(self, subscriptions: Iterable[Subscription]) -> None:
        loop = asyncio.get_running_loop()
        for subscription in subscriptions:
            loop.call_later(_KEPT_SECONDS, self._subscriptions.pop, subscription.answer.id, None)


def _end_of(answering: asyncio.Task[dict[str, Any]]) -> RunEnd:
    if answering.cancelled():
        return RunEnd("cancelled", error=CancelledError())
    error = answering.exception()
    if error is None:
        return RunEnd("done", answering.result())
    known = explained(error)
    if known is None:
        _LOG.error("A question failed.", exc_info=error)
    return RunEnd("failed", error=known or InternalError())
