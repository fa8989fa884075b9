"""Limits on the requests of a key, per minute and per day, counted by the package `limits`.

https://limits.readthedocs.io describes its windows and storages.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from citewell.core.packages import need_packages

if TYPE_CHECKING:
    from limits.aio.storage import Storage

_DAY = 86_400  # seconds


class LimitState(NamedTuple):
    """A limit after a request: how many more may pass, and the seconds until there are more again."""

    name: Literal["minute", "day"]
    limit: int
    remaining: int
    reset: float


@dataclass(frozen=True)
class AccessDecision:
    """The decision on a request: if it may not pass, the limit it exceeds and the seconds to wait.

    `states` are those of all its limits.
    """

    allowed: bool
    limit: int | None = None
    retry_after: float = 0.0
    states: tuple[LimitState, ...] = field(default=(), compare=False)


class Limiter(Protocol):
    """Counts requests by name, such as the id of a key."""

    async def trouble(self) -> str:
        """Return why limits hold for this process alone although a server is configured, or ""."""
        ...

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request, and decide whether it may pass.

        At most `per_minute` requests of a name pass within any 60 seconds, and at most `daily` on any day in
        UTC. None and 0 stand for no limit. A refused request does not count against the other limit.
        """


class WindowLimiter:
    """A `Limiter` in a storage of `limits`: a moving window for the minute, a fixed one for each day."""

    def __init__(self, storage: Storage, now: Callable[[], float] = time.time) -> None:
        """Count in `storage`; `now` gives the seconds since 1970 by which days begin."""
        from limits.aio.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

        self._minutes = MovingWindowRateLimiter(storage)
        self._days = FixedWindowRateLimiter(storage)
        self._now = now

    async def trouble(self) -> str:
        """Return "": the storage is what is configured."""
        return ""

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request, and decide whether it may pass."""
        from limits import RateLimitItemPerDay, RateLimitItemPerMinute

        now = self._now()
        today = str(int(now // _DAY))
        minute = RateLimitItemPerMinute(per_minute) if per_minute else None
        day = RateLimitItemPerDay(daily) if daily else None

        async def states() -> tuple[LimitState, ...]:
            found = []
            if minute:
                window = await self._minutes.get_window_stats(minute, name)
                seconds = max(window.reset_time - time.time(), 0.0)
                found.append(LimitState("minute", minute.amount, window.remaining, seconds))
            if day:
                left = (await self._days.get_window_stats(day, name, today)).remaining
                found.append(LimitState("day", day.amount, left, _DAY - now % _DAY))
            return tuple(found)

        async def spent() -> AccessDecision:
            return AccessDecision(False, daily, _DAY - now % _DAY, await states())

        if day and not await self._days.test(day, name, today):
            return await spent()
        if minute and not await self._minutes.hit(minute, name):
            known = await states()
            return AccessDecision(False, per_minute, known[0].reset, known)
        # The test above saves a slot of the minute; this call counts, in one step for all processes.
        if day and not await self._days.hit(day, name, today):
            return await spent()
        return AccessDecision(allowed=True, states=await states())


@asynccontextmanager
async def open_limiter(redis_url: str, warn: Callable[[str], None]) -> AsyncGenerator[Limiter]:
    """Open a limiter in the Redis or Valkey server at `redis_url`; if it is empty, of this process alone.

    `warn` is called when the server cannot be used, and when it can be used again. Raises `SettingsError` for
    a malformed URL, and `InputError` if the package redis is not installed.
    """
    if not redis_url:
        from limits.aio.storage import MemoryStorage

        yield WindowLimiter(MemoryStorage())
        return
    need_packages("The setting server.redis_url", "redis", "redis")
    from citewell.server.access.redis_limiter import RedisLimiter

    limiter = RedisLimiter(redis_url, warn)
    try:
        yield limiter
    finally:
        await limiter.close()
