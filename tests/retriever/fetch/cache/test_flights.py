"""Equal requests share one answer, and nobody's leaving harms another."""

from __future__ import annotations

import asyncio

import pytest

from citewell.retriever.fetch.cache.flights import Flights


class Work:
    """A task that ends when it is told to, and counts how often it was begun and cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.running = asyncio.Event()
        self.end = asyncio.Event()
        self.error: Exception | None = None

    async def do(self) -> str:
        self.begun += 1
        self.running.set()
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error:
            raise self.error
        return "done"


async def test_equal_requests_run_once() -> None:
    flights, work = Flights[str](), Work()
    waiting = [asyncio.create_task(flights.join("a", work.do)) for _ in range(5)]
    await work.running.wait()
    work.end.set()
    assert await asyncio.gather(*waiting) == ["done"] * 5
    assert work.begun == 1
    assert await flights.join("a", work.do) == "done"
    assert work.begun == 2


async def test_who_leaves_takes_nothing_from_others() -> None:
    flights, work = Flights[str](), Work()
    first, second = (asyncio.create_task(flights.join("a", work.do)) for _ in range(2))
    await work.running.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.end.set()
    assert await second == "done"
    assert work.cancelled == 0


async def test_the_last_who_leaves_ends_the_work() -> None:
    flights, work = Flights[str](), Work()
    waiting = [asyncio.create_task(flights.join("a", work.do)) for _ in range(2)]
    await work.running.wait()
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert (work.begun, work.cancelled) == (1, 1)
    other = Work()
    other.end.set()
    assert await flights.join("a", other.do) == "done"


async def test_all_get_the_failure() -> None:
    flights, work = Flights[str](), Work()
    work.error = ValueError("no")
    waiting = [asyncio.create_task(flights.join("a", work.do)) for _ in range(3)]
    await work.running.wait()
    work.end.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["no"] * 3


async def test_closing_ends_the_work() -> None:
    flights, work = Flights[str](), Work()
    waiting = asyncio.create_task(flights.join("a", work.do))
    await work.running.wait()
    await flights.close()
    assert work.cancelled == 1
    with pytest.raises(asyncio.CancelledError):
        await waiting
