"""When a request that failed in passing is sent again: exponential back-off with full jitter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import uniform


@dataclass(frozen=True, slots=True)
class Backoff:
    """At most `tries` requests.

    The n-th wait is drawn from 0 to `base`·2ⁿ⁻¹ seconds, at most `longest` (full jitter:
    https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    """

    tries: int = 3
    base: float = 0.5
    longest: float = 4.0
    draw: Callable[[float, float], float] = uniform

    def wait(self, tried: int, wanted: float | None, left: float) -> float | None:
        """Seconds to wait after the `tried`-th failure; None when the request is not sent again.

        `wanted` is what the service asked for, as in `Retry-After`; `left` is the time that there is.
        """
        if tried >= self.tries:
            return None
        wait = self.draw(0.0, min(self.longest, self.base * 2 ** (tried - 1))) if wanted is None else wanted
        return wait if wait < left else None
