from __future__ import annotations

import asyncio

from citewell.bootstrap.rate import RateLimit


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def passed(limit: RateLimit, clock: Clock, tokens: list[int]) -> list[float]:
    times = []
    for number in tokens:
        await limit.wait(number)
        times.append(clock.now - 100.0)
    return times


async def test_requests_are_spread_over_the_minute() -> None:
    clock = Clock()
    limit = RateLimit(30, None, sleep=clock.sleep, clock=clock)
    assert await passed(limit, clock, [1, 1, 1, 1]) == [0, 2, 4, 6]


async def test_tokens_count_and_what_was_expected_is_corrected() -> None:
    clock = Clock()
    limit = RateLimit(None, 6000, sleep=clock.sleep, clock=clock)
    assert await passed(limit, clock, [1000, 500]) == [0, 10]
    limit.settle(500, 100)
    assert await passed(limit, clock, [1]) == [11]


async def test_the_stricter_limit_holds() -> None:
    clock = Clock()
    limit = RateLimit(60, 600, sleep=clock.sleep, clock=clock)
    assert await passed(limit, clock, [100, 1, 1]) == [0, 10, 11]


async def test_without_limits_nobody_waits() -> None:
    clock = Clock()
    limit = RateLimit(None, None, sleep=clock.sleep, clock=clock)
    await asyncio.gather(*(limit.wait(10_000) for _ in range(100)))
    assert clock.now == 100.0
