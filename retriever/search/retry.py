"""When to retry a failed search request: after a random wait, or when the service says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import uniform

from citewell.core.backoff import Backoff
from citewell.core.errors import (
    ServiceError,
    ServiceOfflineError,
    ServiceRateError,
    ServiceUnreachableError,
)


@dataclass(frozen=True, slots=True)
class Retry:
    """At most `tries` requests within `seconds`, each within half of it; the rest is as in `Backoff`.

    If the service says how long to wait, the request is retried then, if that is within `seconds`.
    """

    seconds: float = 10.0
    tries: int = 3
    base: float = 0.5
    longest: float = 4.0
    draw: Callable[[float, float], float] = uniform

    @property
    def try_seconds(self) -> float:
        """The time limit of one request, in seconds, which leaves time for another."""
        return self.seconds / 2

    def delay(self, error: ServiceError, tried: int, left: float) -> float | None:
        """Seconds to wait after the `tried`-th failure; None if the request should not be retried."""
        if not isinstance(error, ServiceUnreachableError | ServiceRateError):
            return None
        if isinstance(error, ServiceOfflineError):  # the system has asked its name servers several times
            return None
        backoff = Backoff(self.tries, self.base, self.longest, self.draw)
        return backoff.wait(tried, error.retry_after, left)
