"""When a failed search request is sent again: after a random wait, or when a service wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import uniform

from citewell.core.backoff import Backoff
from citewell.core.errors import ServiceError, ServiceRateError, ServiceUnreachableError


@dataclass(frozen=True, slots=True)
class Retry:
    """At most `tries` requests, `seconds` in all and `try_seconds` each; the others are `Backoff`'s.

    A service that names a time to wait is asked again then, if that is within `seconds`.
    """

    seconds: float = 10.0
    try_seconds: float = 5.0
    tries: int = 3
    base: float = 0.5
    longest: float = 4.0
    draw: Callable[[float, float], float] = uniform

    def delay(self, error: ServiceError, tried: int, left: float) -> float | None:
        """Seconds to wait after the `tried`-th failure, or None when the request is not sent again."""
        if not isinstance(error, ServiceUnreachableError | ServiceRateError):
            return None
        backoff = Backoff(self.tries, self.base, self.longest, self.draw)
        return backoff.wait(tried, error.retry_after, left)
