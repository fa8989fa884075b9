"""Limits that several processes and computers share, in Redis or Valkey."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from limits.aio.storage import MemoryStorage, RedisStorage
from redis.asyncio import BlockingConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from yarl import URL

from citewell.core.errors import SettingsError
from citewell.server.access.limiter import AccessDecision, WindowLimiter

_PREFIX = "citewell:limit"
_SECONDS = 1.0  # for one reply
_REST_SECONDS = 5.0  # after a failure, until the server is tried again
_CONNECTIONS = 32
_PROBE = "/ready"  # whose requests are counted to see whether the server counts


class RedisLimiter:
    """A `Limiter` in the Redis or Valkey server at `url`, such as `redis://:password@host:6379/0`.

    While the server is unreachable or hangs, the same limits hold for this process alone, `trouble` says why,
    and the first call after 5 seconds tries the server again; `warn` is called for both changes. At most one
    call at a time waits for a server known to be unreachable, for at most a second.
    """

    def __init__(self, url: str, warn: Callable[[str], None], *, rest_seconds: float = _REST_SECONDS) -> None:
        """Connects when it is first used; raises `SettingsError` for a malformed URL."""
        try:
            self._pool = BlockingConnectionPool.from_url(
                url,
                max_connections=_CONNECTIONS,
                timeout=_SECONDS,
                socket_connect_timeout=_SECONDS,
                socket_timeout=_SECONDS,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise SettingsError(
                f"The setting server.redis_url is wrong: {error}.", "Write redis://host:6379/0, for example."
            ) from None
        self._place = _without_password(url)
        options: dict[str, Any] = {"connection_pool": self._pool}
        storage = RedisStorage("async+redis://", implementation="redispy", key_prefix=_PREFIX, **options)
        self._shared = WindowLimiter(storage)
        self._local = WindowLimiter(MemoryStorage())
        self._warn = warn
        self._rest_seconds = rest_seconds
        # Waiting for a connection is not waiting for the server, and has no time limit.
        self._turns = asyncio.Semaphore(_CONNECTIONS)
        self._trouble = ""
        self._rest_until = 0.0
        self._is_trying = False

    async def trouble(self) -> str:
        """Return why limits hold for this process alone; empty if the server can be used.

        Tries the server, as requests do.
        """
        await self._shared_take(_PROBE, 1, None)
        return self._trouble

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request, and decide whether it may pass."""
        if not per_minute and not daily:
            return AccessDecision(allowed=True)
        decision = await self._shared_take(name, per_minute, daily)
        return await self._local.take(name, per_minute, daily) if decision is None else decision

    async def _shared_take(
        self, name: str, per_minute: int | None, daily: int | None
    ) -> AccessDecision | None:
        """Count a request in the server; None if that cannot be used, or is known not to be."""
        async with self._turns:
            if self._trouble and (self._is_trying or time.monotonic() < self._rest_until):
                return None
            self._is_trying = True
            try:
                decision = await self._shared.take(name, per_minute, daily)
            except (RedisError, OSError, TimeoutError) as error:
                self._failed(error)
                return None
            finally:
                self._is_trying = False
        if self._trouble:
            self._trouble = ""
            self._warn(f"The limits are counted at {self._place} again.")
        return decision

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.aclose()

    def _failed(self, error: Exception) -> None:
        reason = str(error).rstrip(".") or f"it did not answer within {_SECONDS:g} s"
        is_new = not self._trouble
        self._trouble = f"The limits at {self._place} cannot be used: {reason}."
        self._rest_until = time.monotonic() + self._rest_seconds
        if is_new:
            self._warn(f"{self._trouble} Each process counts for itself meanwhile.")


def _without_password(url: str) -> str:
    return str(URL(url).with_user(None).with_query(None)) if URL(url).host else url.partition("?")[0]
