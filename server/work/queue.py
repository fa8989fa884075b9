"""The desk in front of the models: few questions at once, a bounded queue, one run for equal questions."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from citewell.core.errors import CitewellError
from citewell.core.events import Done, Event
from citewell.server.store.answers import StoredAnswer
from citewell.server.work.errors import (
    AnswerLateError,
    CancelledError,
    InternalError,
    QueueFullError,
    QueueLateError,
    StoppingError,
)
from citewell.server.work.event_log import EventLog, Numbered, named

Work = Callable[[], AsyncGenerator[Event, None]]
"""Begins the work on a question: a pipeline's `ask` or `retrieve`."""

HEARTBEAT = 10.0  # seconds between two signs of life
HELD = 60.0  # seconds for which the events of a finished question are kept
MOST_HELD = 300  # finished questions whose events are kept
_FOLLOWED = 10.0  # seconds within which a stream begins
_FIRST_GUESS = 1.0  # seconds of a question, until one was measured
_WEIGHT = 0.2  # of the newest measurement
_LONGEST_WAIT = 60.0  # seconds that anybody is asked to stay away

_LOG = logging.getLogger("citewell.desk")


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How much is done at once, and how long it may take, in seconds."""

    concurrency: int = 2
    queue: int = 32
    queue_seconds: float = 30.0
    answer_seconds: float = 300.0
    resume_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """How a question ended. `seconds` counts from when it was asked, its waiting included."""

    status: Literal["done", "failed", "cancelled"]
    seconds: float
    answer: dict[str, Any] | None = None
    error: CitewellError | None = None


Keep = Callable[[QuestionOutcome], Awaitable[None]]
"""Told how a question ended, before those who follow it are."""


@dataclass(eq=False)
class _Run:
    """The work on one question, for everyone who asked it."""

    digest: str
    work: Work
    began: float
    log: EventLog = field(default_factory=EventLog)
    tickets: set[Subscription] = field(default_factory=set)
    task: asyncio.Task[dict[str, Any]] | None = None


class Subscription:
    """One person's claim on the answer to a question, which others may have asked too."""

    def __init__(self, desk: QuestionQueue, run: _Run, about: StoredAnswer, keep: Keep) -> None:
        """Claim what `run` finds; `about` is what was asked, by whom."""
        self.about = about
        self.keep = keep
        self.outcome: QuestionOutcome | None = None
        """How the question ended for this person, once it has."""
        self.joined = time.monotonic()
        self._desk = desk
        self._run = run
        self._readers = 0
        self._leaving: asyncio.TimerHandle | None = None

    async def ended(self) -> QuestionOutcome:
        """Wait for the end of the question."""
        await self._run.log.closed()
        assert self.outcome is not None
        return self.outcome

    async def follow(
        self, after: int = 0, heartbeat: float = HEARTBEAT
    ) -> AsyncGenerator[Numbered | None, None]:
        """All events after number `after`; None whenever nothing happened for `heartbeat` seconds.

        Whoever stops following may come back for `resume_seconds`; after them, the claim is given up.
        """
        self._readers += 1
        self._expect(None)
        try:
            async with aclosing(self._run.log.follow(after, heartbeat)) as events:
                async for event in events:
                    yield event
        finally:
            self._readers -= 1
            if not self._readers and not self._run.log.is_closed:
                self._expect(self._desk.limits.resume_seconds)

    def expect(self) -> None:
        """Give the claim up unless somebody follows soon: a client may leave before its stream begins."""
        if not self._readers:
            self._expect(_FOLLOWED)

    def leave(self) -> None:
        """Give the claim up. A question that nobody waits for any more is cancelled."""
        self._desk.drop(self, self._run)

    def _expect(self, seconds: float | None) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
        loop = asyncio.get_running_loop()
        self._leaving = None if seconds is None else loop.call_later(seconds, self.leave)


class QuestionQueue:
    """Decides which question runs when. All of its methods belong to one event loop."""

    def __init__(self, limits: QueueLimits) -> None:
        self.limits = limits
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._running: dict[str, _Run] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._tickets: dict[str, Subscription] = {}
        self._usual = _FIRST_GUESS
        self._is_closing = False

    @property
    def running(self) -> int:
        """How many questions are worked on."""
        return min(len(self._running), self.limits.concurrency)

    @property
    def waiting(self) -> int:
        """How many questions wait for their turn."""
        return len(self._running) - self.running

    def is_full(self, digest: str) -> bool:
        """Whether a question of this digest would be refused for want of room."""
        most = self.limits.concurrency + self.limits.queue
        return digest not in self._running and len(self._running) >= most

    def _check_room(self, digest: str) -> None:
        if self._is_closing:
            raise StoppingError
        if self.is_full(digest):
            raise QueueFullError(len(self._running), self._retry_after())

    def join(self, about: StoredAnswer, work: Work, keep: Keep) -> Subscription:
        """Ask a question, or follow the one of the same digest that is on its way.

        `keep` is told how the question ended. Raises `QueueFullError` where too many wait already, and
        `StoppingError` once the desk is being closed.
        """
        digest = about.digest
        self._check_room(digest)
        run = self._running.get(digest)
        if run is None:
            run = self._running[digest] = _Run(digest, work, time.monotonic())
            if len(self._running) > self.limits.concurrency:
                run.log.add("queued", {"ahead": len(self._running) - 1})
            run.task = asyncio.create_task(self._answer(run))
            self._start(self._attend(run, run.task))
        ticket = Subscription(self, run, about, keep)
        run.tickets.add(ticket)
        self._hold(ticket)
        return ticket

    def finished(self, about: StoredAnswer, *, hold: bool = True) -> Subscription:
        """A ticket for a question that has ended; `hold` keeps it for those who come back."""
        run = _Run("", _nothing, time.monotonic())
        if about.body is None:
            run.log.add("error", {})
        else:
            relevant = about.body["outcome"] != "no_evidence"
            run.log.add("ranked", {"references": about.body["references"], "relevant": relevant})
            run.log.add("done", {})
        run.log.close()
        ticket = Subscription(self, run, about, _forget)
        ticket.outcome = QuestionOutcome(
            "failed" if about.body is None else "done", about.seconds or 0.0, about.body
        )
        if hold:
            self._hold(ticket)
            self._let_go([ticket])
        return ticket

    def forget(self, answer_id: str) -> None:
        """Give up the claim on an answer, and do not hold its events any longer."""
        ticket = self._tickets.pop(answer_id, None)
        if ticket is not None:
            ticket.leave()

    def ticket(self, ticket_id: str) -> Subscription | None:
        """The ticket of this id, while its question runs and for a minute after."""
        return self._tickets.get(ticket_id)

    def drop(self, ticket: Subscription, run: _Run) -> None:
        """Take back what `join` gave."""
        if self._running.get(run.digest) is not run or ticket not in run.tickets:
            return
        if len(run.tickets) == 1:
            self._give_up(run)
            return
        run.tickets.discard(ticket)
        self._tickets.pop(ticket.about.id, None)
        self._start(self._tell([ticket], QuestionOutcome("cancelled", 0.0, error=CancelledError())))

    async def close(self) -> None:
        """Take no more questions, cancel those that run, and wait until all ends were kept."""
        self._is_closing = True
        for run in list(self._running.values()):
            self._give_up(run)
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _give_up(self, run: _Run) -> None:
        # At once: whoever asks the same from now on must not join what is being cancelled.
        del self._running[run.digest]
        if run.task is not None:
            run.task.cancel()

    async def _attend(self, run: _Run, answering: asyncio.Task[dict[str, Any]]) -> None:
        """Wait for the answer, and tell all who asked; this is never cancelled."""
        await asyncio.wait({answering})
        if self._running.get(run.digest) is run:
            del self._running[run.digest]
        outcome = _outcome(run, answering)
        tickets, run.tickets = run.tickets, set()
        await self._tell(tickets, outcome)
        run.log.add("done" if outcome.answer is not None else "error", {})
        run.log.close()
        self._let_go(tickets)

    async def _answer(self, run: _Run) -> dict[str, Any]:
        async with self._turn():
            run.log.add("searching", {})
            return await self._events(run)

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None, None]:
        """Wait for a turn, and give it on at the end."""
        try:
            async with asyncio.timeout(self.limits.queue_seconds):
                await self._slots.acquire()
        except TimeoutError:
            raise QueueLateError(self.limits.queue_seconds, self._retry_after()) from None
        try:
            yield
        finally:
            self._slots.release()

    async def _events(self, run: _Run) -> dict[str, Any]:
        """Work on the question, tell of each event, and return the answer."""
        began = time.monotonic()
        limit = asyncio.timeout(self.limits.answer_seconds)
        try:
            async with limit, aclosing(run.work()) as events:
                async for event in events:
                    name, data = named(event)
                    if isinstance(event, Done):
                        self._usual += _WEIGHT * (_since(began) - self._usual)
                        return data
                    run.log.add(name, data)
        except TimeoutError:
            if limit.expired():
                raise AnswerLateError(self.limits.answer_seconds) from None
            raise
        raise AssertionError("a pipeline ends with Done")

    def _retry_after(self) -> float:
        """When a question could be taken: the time until half of those that are here are answered."""
        rounds = math.ceil(max(len(self._running), 1) / self.limits.concurrency / 2)
        return min(max(self._usual * rounds, 1.0), _LONGEST_WAIT)

    async def _tell(self, tickets: Iterable[Subscription], outcome: QuestionOutcome) -> None:
        ends = []
        for ticket in tickets:
            ticket.outcome = replace(outcome, seconds=_since(ticket.joined))
            ends.append(ticket.keep(ticket.outcome))
        # One who cannot be told must not keep it from the others.
        for error in await asyncio.gather(*ends, return_exceptions=True):
            if error is not None:
                _LOG.error("The end of a question was not kept", exc_info=error)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hold(self, ticket: Subscription) -> None:
        self._tickets[ticket.about.id] = ticket
        if len(self._tickets) > MOST_HELD:
            oldest = next((held for held in self._tickets.values() if held.outcome), None)
            if oldest is not None:
                del self._tickets[oldest.about.id]

    def _let_go(self, tickets: Iterable[Subscription]) -> None:
        loop = asyncio.get_running_loop()
        for ticket in tickets:
            loop.call_later(HELD, self._tickets.pop, ticket.about.id, None)


def _outcome(run: _Run, answering: asyncio.Task[dict[str, Any]]) -> QuestionOutcome:
    seconds = _since(run.began)
    if answering.cancelled():
        return QuestionOutcome("cancelled", seconds, error=CancelledError())
    error = answering.exception()
    if error is None:
        return QuestionOutcome("done", seconds, answering.result())
    if not isinstance(error, CitewellError):
        _LOG.error("A question failed", exc_info=error)
        error = InternalError()
    return QuestionOutcome("failed", seconds, error=error)


def _since(began: float) -> float:
    return round(time.monotonic() - began, 4)


async def _nothing() -> AsyncGenerator[Event, None]:
    return
    yield


async def _forget(outcome: QuestionOutcome) -> None:
    pass
