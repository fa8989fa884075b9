"""Opening a limiter: in the memory of this process, or in a server that several processes share."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from citewell.core.packages import need_packages
from citewell.server.access.decision import AccessDecision, Limiter
from citewell.server.access.memory_limiter import MemoryLimiter

__all__ = ["AccessDecision", "Limiter", "MemoryLimiter", "open_limiter"]


@asynccontextmanager
async def open_limiter(redis_url: str, warn: Callable[[str], None]) -> AsyncGenerator[Limiter]:
    """A limiter in the Redis or Valkey server at `redis_url`, or of this process alone where it is empty.

    `warn` is told when the server cannot be used, and when it is used again. Raises `SettingsError` for a URL
    that is not understood, and `InputError` where the package redis is not installed.
    """
    if not redis_url:
        yield MemoryLimiter()
        return
    need_packages("The setting server.redis_url", "redis", "redis")
    from citewell.server.access.redis_limiter import RedisLimiter

    limiter = RedisLimiter(redis_url, warn)
    try:
        yield limiter
    finally:
        await limiter.close()
