"""The numbered events of one question: each follower reads all of them, starting at any number."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from citewell.core.errors import CitewellError
from citewell.core.events import Event
from citewell.server.store.answers import StoredAnswer


@dataclass(frozen=True, slots=True)
class QuestionQueued:
    """The question waits for its turn, behind `ahead` others."""

    ahead: int


@dataclass(frozen=True, slots=True)
class Started:
    """The question has its turn."""


@dataclass(frozen=True, slots=True)
class QuestionEnded:
    """The last event of every question: its answer as it is stored, and the error if it failed."""

    answer: StoredAnswer
    error: CitewellError | None = None


QuestionEvent = QuestionQueued | Started | Event | QuestionEnded


class NumberedEvent(NamedTuple):
    """An event and its number, from 1."""

    number: int
    event: QuestionEvent


class EventLog:
    """The events of a question so far. The log grows until it is closed."""

    def __init__(self) -> None:
        self._events: list[QuestionEvent] = []
        self._changed = asyncio.Event()
        self.is_closed = False

    def add(self, event: QuestionEvent) -> None:
        """Append an event, and wake the followers."""
        self._events.append(event)
        self._wake()

    def close(self) -> None:
        """Mark the log as complete."""
        self.is_closed = True
        self._wake()

    async def closed(self) -> None:
        """Wait until the log is complete."""
        while not self.is_closed:
            await self._changed.wait()

    async def follow(self, after: int, heartbeat: float) -> AsyncGenerator[NumberedEvent | None, None]:
        """Yield all events after number `after`, to the last one of a closed log.

        Yields None after each `heartbeat` seconds without an event.
        """
        number = max(after, 0)
        while True:
            changed = self._changed
            while number < len(self._events):
                number += 1
                yield NumberedEvent(number, self._events[number - 1])
            if self.is_closed:
                return
            if changed is not self._changed:
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(heartbeat):
                    await changed.wait()
                continue
            yield None

    def __len__(self) -> int:
        return len(self._events)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
