"""Limits of one process, with days that the tests set."""

from __future__ import annotations

import asyncio
import time

import pytest
from limits.aio.storage import MemoryStorage

from citewell.server.access.limiter import AccessDecision, WindowLimiter, open_limiter

NOON = 20_000 * 86_400 + 43_200
PASSES = AccessDecision(allowed=True)


@pytest.fixture
def limiter() -> WindowLimiter:
    return WindowLimiter(MemoryStorage())


async def test_a_limit_per_minute(limiter: WindowLimiter) -> None:
    assert [await limiter.take("ada", 2, None) for _ in range(2)] == [PASSES, PASSES]
    refused = await limiter.take("ada", 2, None)
    assert (refused.allowed, refused.limit) == (False, 2)
    assert 59 < refused.retry_after <= 60
    assert await limiter.take("bob", 2, None) == PASSES


async def test_what_is_left_of_each_limit_is_told(limiter: WindowLimiter) -> None:
    first, _, refused = [await limiter.take("ada", 2, 9) for _ in range(3)]
    assert [(state.name, state.limit, state.remaining) for state in first.states] == [
        ("minute", 2, 1),
        ("day", 9, 8),
    ]
    assert [(state.name, state.remaining) for state in refused.states] == [("minute", 0), ("day", 7)]
    assert 59 < first.states[0].reset <= 60
    assert 0 < first.states[1].reset <= 86_400
    assert (await limiter.take("ada", None, None)).states == ()


async def test_the_minute_moves(limiter: WindowLimiter, monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.time()
    for seconds, is_allowed in ((0, True), (30, True), (59, False), (61, True), (62, False), (91, True)):
        monkeypatch.setattr(time, "time", lambda now=began + seconds: now)
        assert (await limiter.take("ada", 2, None)).allowed == is_allowed, seconds


async def test_a_quota_holds_from_midnight_to_midnight() -> None:
    now = [NOON]
    limiter = WindowLimiter(MemoryStorage(), lambda: now[0])
    assert [await limiter.take("ada", None, 2) for _ in range(2)] == [PASSES, PASSES]
    assert await limiter.take("ada", None, 2) == AccessDecision(False, 2, 43_200.0)
    now[0] += 43_200
    assert await limiter.take("ada", None, 2) == PASSES


async def test_a_request_that_one_limit_refuses_costs_nothing_of_the_other(limiter: WindowLimiter) -> None:
    assert await limiter.take("ada", 1, 2) == PASSES
    for _ in range(3):
        assert (await limiter.take("ada", 1, 2)).limit == 1
    assert await limiter.take("ada", None, 2) == PASSES
    assert (await limiter.take("ada", None, 2)).limit == 2
    for _ in range(3):
        assert (await limiter.take("ada", 5, 2)).limit == 2
    assert [(await limiter.take("ada", 5, None)).allowed for _ in range(6)] == [*5 * [True], False]


async def test_no_limit(limiter: WindowLimiter) -> None:
    for none in (None, 0):
        for _ in range(100):
            assert await limiter.take("ada", none, none) == PASSES


async def test_a_thousand_at_once() -> None:
    async with open_limiter("", pytest.fail) as limiter:
        decisions = await asyncio.gather(*(limiter.take("ada", 100, None) for _ in range(1_000)))
        assert sum(decision.allowed for decision in decisions) == 100
        assert await limiter.trouble() == ""
