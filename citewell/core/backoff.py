"""Retries of requests after transient failures: exponential backoff with full jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import uniform


@dataclass(frozen=True, slots=True)
class Backoff:
    """A retry policy of at most `tries` requests.

    The n-th wait is drawn from 0 to `base`·2ⁿ⁻¹ seconds, at most `longest` (full jitter:
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    """

    tries: int = 3
    base: float = 0.5
    longest: float = 4.0
    draw: Callable[[float, float], float] = uniform

    def wait(self, tried: int, wanted: float | None, left: float) -> float | None:
        """Return the seconds to wait after the `tried`-th failure; None if the request should not be retried.

        `wanted` is the wait that the service asked for in `Retry-After`, `left` the time that remains.
        """
        if tried >= self.tries:
            return None
        wait = self.draw(0.0, min(self.longest, self.base * 2 ** (tried - 1))) if wanted is None else wanted
        return wait if wait < left else None
