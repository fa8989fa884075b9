"""Limits of one process, by clocks that the tests set."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from citewell.server.access.decision import AccessDecision
from citewell.server.access.limits import open_limiter
from citewell.server.access.memory_limiter import MemoryLimiter

NOON = 20_000 * 86_400 + 43_200


@dataclass
class Clock:
    """Seconds of a stopwatch, and of the day."""

    elapsed: float = 1_000.0
    now: float = NOON

    def forward(self, seconds: float) -> None:
        self.elapsed += seconds
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(clock: Clock) -> MemoryLimiter:
    return MemoryLimiter(lambda: clock.elapsed, lambda: clock.now)


async def test_a_limit_holds_in_every_minute(limiter: MemoryLimiter, clock: Clock) -> None:
    assert await limiter.take("ada", 2, None) == AccessDecision(True, 0.0, 1, 2)
    clock.forward(30)
    assert await limiter.take("ada", 2, None) == AccessDecision(True, 0.0, 0, 2)
    clock.forward(10)
    assert await limiter.take("ada", 2, None) == AccessDecision(False, 20.0, 0, 2)
    assert await limiter.take("bob", 2, None) == AccessDecision(True, 0.0, 1, 2)
    clock.forward(20)  # the first request is a minute old
    assert (await limiter.take("ada", 2, None)).allowed
    assert (await limiter.take("ada", 2, None)) == AccessDecision(False, 30.0, 0, 2)


async def test_a_budget_holds_from_midnight_to_midnight(limiter: MemoryLimiter, clock: Clock) -> None:
    for left in (1, 0):
        assert await limiter.take("ada", None, 2) == AccessDecision(True, 0.0, left, 2)
    assert await limiter.take("ada", None, 2) == AccessDecision(False, 43_200.0, 0, 2)
    clock.forward(43_200)
    assert await limiter.take("ada", None, 2) == AccessDecision(True, 0.0, 1, 2)


async def test_what_is_refused_by_one_limit_costs_nothing_of_the_other(
    limiter: MemoryLimiter, clock: Clock
) -> None:
    assert await limiter.take("ada", 1, 2) == AccessDecision(True, 0.0, 0, 1)
    assert await limiter.take("ada", 1, 2) == AccessDecision(False, 60.0, 0, 1)
    clock.forward(60)
    assert await limiter.take("ada", 1, 2) == AccessDecision(True, 0.0, 0, 1)
    clock.forward(60)
    assert await limiter.take("ada", 1, 2) == AccessDecision(False, 43_080.0, 0, 2)
    assert (await limiter.take("ada", 1, None)).allowed


async def test_no_limit(limiter: MemoryLimiter) -> None:
    for none in (None, 0):
        for _ in range(100):
            assert await limiter.take("ada", none, none) == AccessDecision(True, 0.0, None, None)


async def test_limits_that_change(limiter: MemoryLimiter) -> None:
    for _ in range(5):
        await limiter.take("ada", 5, None)
    assert not (await limiter.take("ada", 3, None)).allowed
    assert (await limiter.take("ada", 6, None)).allowed
    assert not (await limiter.take("ada", 6, None)).allowed


async def test_a_clock_that_is_set_keeps_nobody_out(limiter: MemoryLimiter, clock: Clock) -> None:
    assert (await limiter.take("ada", 1, 3)).allowed
    clock.now += 400 * 86_400  # a day in the far future
    clock.elapsed += 60
    assert (await limiter.take("ada", 1, 3)).remaining == 0
    clock.now = NOON - 3_600
    clock.elapsed += 60
    assert (await limiter.take("ada", 1, 3)).allowed
    clock.now += 86_400
    for _ in range(3):
        clock.elapsed += 60
        assert (await limiter.take("ada", 1, 3)).allowed
    assert (await limiter.take("ada", None, 3)).retry_after <= 86_400


async def test_a_thousand_at_once() -> None:
    async with open_limiter("", pytest.fail) as limiter:
        verdicts = await asyncio.gather(*(limiter.take("ada", 100, None) for _ in range(1_000)))
        assert sum(verdict.allowed for verdict in verdicts) == 100
        assert limiter.trouble == ""
