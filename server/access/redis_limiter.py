"""Limits that several processes and computers share, in Redis or Valkey."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from yarl import URL

from citewell.core.errors import SettingsError
from citewell.server.access.decision import AccessDecision, Share, decide
from citewell.server.access.memory_limiter import MemoryLimiter

_PREFIX = "citewell:limit:"
_SECONDS = 1.0  # for one reply
_REST_SECONDS = 5.0  # a server that failed is left alone for so long
_CONNECTIONS = 32

# A script runs alone and whole, by the clock of the server, in microseconds. KEYS are a list of the times of
# the last minute's requests, newest first, and a hash of the day and what was spent on it; ARGV are the
# limits, 0 for none. The reply is what was left of each limit, and in how many microseconds there is more.
_SCRIPT = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local minute, day = 60000000, 86400
local per_minute, daily = tonumber(ARGV[1]), tonumber(ARGV[2])
local function written(number) return string.format('%.0f', number) end
local left, wait, left_today, wait_today = 1, 0, 1, 0

if per_minute > 0 then
    local newest = redis.call('LINDEX', KEYS[1], 0)
    if newest and tonumber(newest) > now then
        -- The clock was set back. What was counted is taken for the present, and counts for a minute at most.
        local counted = redis.call('LLEN', KEYS[1])
        redis.call('DEL', KEYS[1])
        for _ = 1, counted do redis.call('LPUSH', KEYS[1], written(now)) end
    end
    local oldest = redis.call('LINDEX', KEYS[1], -1)
    while oldest and tonumber(oldest) <= now - minute do
        redis.call('RPOP', KEYS[1])
        oldest = redis.call('LINDEX', KEYS[1], -1)
    end
    left = per_minute - redis.call('LLEN', KEYS[1])
    if left <= 0 then
        wait = tonumber(redis.call('LINDEX', KEYS[1], per_minute - 1)) + minute - now
    end
end

local today = math.floor(time[1] / day)
if daily > 0 then
    local known = redis.call('HMGET', KEYS[2], 'day', 'spent')
    local spent = tonumber(known[2] or 0)
    if today > tonumber(known[1] or 0) then spent = 0 end
    redis.call('HSET', KEYS[2], 'day', today, 'spent', spent)
    redis.call('EXPIRE', KEYS[2], day)
    left_today = daily - spent
    wait_today = (today + 1) * day * 1000000 - now
end

if left > 0 and left_today > 0 then
    if per_minute > 0 then
        redis.call('LPUSH', KEYS[1], written(now))
        redis.call('PEXPIRE', KEYS[1], 61000)
    end
    if daily > 0 then redis.call('HINCRBY', KEYS[2], 'spent', 1) end
end
return {left, written(wait), left_today, written(wait_today)}
"""


class RedisLimiter:
    """A `Limiter` in the Redis or Valkey server at `url`, such as `redis://:password@host:6379/0`.

    While the server is away or hangs, the same limits hold for this process alone, `trouble` says why, and
    the server is tried again every 5 seconds; `warn` is told of both. No more than one request waits for a
    server that is known to be away, for a second at most.
    """

    def __init__(self, url: str, warn: Callable[[str], None], *, rest_seconds: float = _REST_SECONDS) -> None:
        """Raises `SettingsError` for a URL that is not understood; connects when it is used."""
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=_CONNECTIONS,
                timeout=_SECONDS,
                socket_connect_timeout=_SECONDS,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise SettingsError(
                f"The setting server.redis_url is wrong: {error}.", "Write redis://host:6379/0, for example."
            ) from None
        self._place = _without_password(url)
        self._redis = Redis.from_pool(pool)
        self._script = self._redis.register_script(_SCRIPT)
        self._warn = warn
        self._rest_seconds = rest_seconds
        self._local = MemoryLimiter()
        # Waiting for one's turn here is not waiting for the server, and has no time limit.
        self._turns = asyncio.Semaphore(_CONNECTIONS)
        self._trouble = ""
        self._rest_until = 0.0
        self._is_trying = False

    @property
    def trouble(self) -> str:
        """Why limits hold for this process alone; empty while the server is used."""
        return self._trouble

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request if it may pass."""
        if not per_minute and not daily:
            return decide([])
        async with self._turns:
            if self._trouble and (self._is_trying or time.monotonic() < self._rest_until):
                return await self._local.take(name, per_minute, daily)
            self._is_trying = True
            try:
                verdict = await self._ask(name, per_minute or 0, daily or 0)
            except (RedisError, OSError, TimeoutError) as error:
                self._failed(error)
                return await self._local.take(name, per_minute, daily)
            finally:
                self._is_trying = False
        if self._trouble:
            self._trouble = ""
            self._warn(f"The limits are counted at {self._place} again.")
        return verdict

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    async def _ask(self, name: str, per_minute: int, daily: int) -> AccessDecision:
        # Braces keep both keys on one node of a cluster.
        keys = [f"{_PREFIX}{{{name}}}:minute", f"{_PREFIX}{{{name}}}:day"]
        async with asyncio.timeout(_SECONDS):
            left, wait, left_today, wait_today = await self._script(keys=keys, args=[per_minute, daily])
        shares = []
        if per_minute:
            shares.append(Share(per_minute, int(left), int(wait) / 1e6))
        if daily:
            shares.append(Share(daily, int(left_today), int(wait_today) / 1e6))
        return decide(shares)

    def _failed(self, error: Exception) -> None:
        reason = str(error).rstrip(".") or f"it did not answer within {_SECONDS:g} s"
        is_news = not self._trouble
        self._trouble = f"The limits at {self._place} cannot be used: {reason}."
        self._rest_until = time.monotonic() + self._rest_seconds
        if is_news:
            self._warn(f"{self._trouble} Each process counts for itself meanwhile.")


def _without_password(url: str) -> str:
    return str(URL(url).with_user(None).with_query(None)) if URL(url).host else url.partition("?")[0]
