"""Rate limits of a service: requests and tokens per minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

_MINUTE = 60.0


class RateLimit:
    """A limiter that spaces requests so that both limits hold in every minute, first come, first served.

    Each request postpones the next one by its share of a minute, by requests or by tokens.
    """

    def __init__(
        self,
        requests: float | None,
        tokens: float | None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`requests` and `tokens` are per minute; None means no limit."""
        self._requests = requests
        self._tokens = tokens
        self._sleep = sleep
        self._clock = clock
        self._next_by_requests = self._next_by_tokens = 0.0
        self._order = asyncio.Lock()

    async def wait(self, tokens: int) -> None:
        """Wait until a request of about `tokens` tokens may be sent."""
        async with self._order:
            now = self._clock()
            start = max(now, self._next_by_requests, self._next_by_tokens)
            if start > now:
                await self._sleep(start - now)
            if self._requests is not None:
                self._next_by_requests = start + _MINUTE / self._requests
            if self._tokens is not None:
                self._next_by_tokens = start + tokens * _MINUTE / self._tokens

    def settle(self, expected: int, taken: int) -> None:
        """Replace the expected number of tokens of a request by the actual one."""
        if self._tokens is not None:
            self._next_by_tokens += (taken - expected) * _MINUTE / self._tokens
