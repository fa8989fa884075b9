"""One shared answer for equal requests at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Flight(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class Flights(Generic[T]):
    """A runner of one task per key, shared by all who ask while it runs.

    Cancelling one caller does not affect the others; the task is cancelled when no caller is left.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[T]] = {}

    async def join(self, key: Hashable, start: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of the task of `key`, or raise its error.

        `start` creates the task if none is running.
        """
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(start()))
            flight.task.add_done_callback(lambda task: self._landed(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._forget(key, flight.task)  # new callers must not join a task that is being cancelled
                flight.task.cancel()
                await _end(flight.task)

    async def close(self) -> None:
        """Cancel the running tasks."""
        for flight in list(self._flights.values()):
            flight.task.cancel()
            await _end(flight.task)

    def _landed(self, key: Hashable, task: asyncio.Task[T]) -> None:
        self._forget(key, task)
        if not task.cancelled():
            task.exception()  # it may have failed after the last caller left

    def _forget(self, key: Hashable, task: asyncio.Task[T]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]


async def _end(task: Awaitable[Any]) -> None:
    await asyncio.gather(task, return_exceptions=True)
