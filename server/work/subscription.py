"""The work on one question, and the claims of its callers on the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from citewell.core.errors import CitewellError
from citewell.server.problems import problem_of
from citewell.server.store.answers import StoredAnswer
from citewell.server.work.event_log import EventLog, NumberedEvent, QuestionEnded
from citewell.server.work.history import QuestionHistory

HEARTBEAT = 10.0  # seconds without an event, after which followers get a sign of life
_STREAM_START = 10.0  # seconds within which a stream must begin

Keep = Callable[[StoredAnswer], Awaitable[None]]
"""A function that stores the outcome of a question before its followers see it."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The outcome of a question: the JSON of an answer, or an error."""

    status: Literal["done", "failed", "cancelled"]
    body: dict[str, Any] | None = None
    error: CitewellError | None = None


@dataclass(eq=False)
class SharedQuestion:
    """The work on one question, for everyone who asked it. Events are noted in the `history` of the first
    caller."""

    digest: str
    key: str | None
    """The key that asked first, whose places in the queue it takes."""
    history: QuestionHistory
    log: EventLog = field(default_factory=EventLog)
    subscriptions: set[Subscription] = field(default_factory=set)
    task: asyncio.Task[dict[str, Any]] | None = None


class Subscription:
    """A caller's claim on the answer to a question, which others may have asked too."""

    def __init__(
        self,
        asked: StoredAnswer,
        run: SharedQuestion,
        history: QuestionHistory,
        leave: Callable[[Subscription], None],
        *,
        keep: Keep | None,
        resume_seconds: float,
    ) -> None:
        """Follow `run`. `leave` gives up the claim; `keep`, if any, stores the outcome."""
        self.answer = asked
        """The question, and once it has ended, its answer or its problem."""
        self.error: CitewellError | None = None
        self.run = run
        self.history = history
        self.keep = keep
        self._leave = leave
        self._resume_seconds = resume_seconds
        self._joined = time.monotonic()
        self._readers = 0
        self._leaving: asyncio.TimerHandle | None = None

    @property
    def has_ended(self) -> bool:
        """True once the question has ended for this caller."""
        return self.answer.status != "running"

    def finish(self, end: RunEnd) -> None:
        """Note how the question ended for this caller, whose seconds include the waiting."""
        self.error = end.error
        self.answer = replace(
            self.answer,
            status=end.status,
            seconds=round(time.monotonic() - self._joined, 4),
            body=end.body,
            problem=problem_of(end.error) if end.error else None,
        )
        if end.body is None:
            self.history.end("cancelled" if end.status == "cancelled" else "failed", end.error)
        else:
            self.history.end(end.body["outcome"])

    async def ended(self) -> StoredAnswer:
        """Wait for the end of the question, and raise the error that it ended with."""
        self._readers += 1
        self._expect(None)
        try:
            await self.run.log.closed()
        finally:
            self._readers -= 1
        if self.error is not None:
            raise self.error
        return self.answer

    async def follow(
        self, after: int = 0, heartbeat: float = HEARTBEAT
    ) -> AsyncGenerator[NumberedEvent | None, None]:
        """Yield all events after number `after`, the last of them `QuestionEnded`; None as a sign of life.

        A follower that stops may reconnect within a few seconds; after that, the claim is given up.
        """
        self._readers += 1
        self._expect(None)
        log = self.run.log
        try:
            async with aclosing(log.follow(after, heartbeat)) as events:
                async for event in events:
                    yield event
            if after <= len(log):
                yield NumberedEvent(len(log) + 1, QuestionEnded(self.answer, self.error))
        finally:
            self._readers -= 1
            if not self._readers and not log.is_closed:
                self._expect(self._resume_seconds)

    def expect(self) -> None:
        """Give up the claim unless a stream begins soon: the client may have left."""
        if not self._readers:
            self._expect(_STREAM_START)

    def leave(self) -> None:
        """Give up the claim. A question that nobody waits for is cancelled."""
        self._leave(self)

    def _expect(self, seconds: float | None) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
        loop = asyncio.get_running_loop()
        self._leaving = None if seconds is None else loop.call_later(seconds, self.leave)
