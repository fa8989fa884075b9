"""Limits of one process, kept in its memory."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from citewell.server.access.decision import AccessDecision, Share, decide

MINUTE = 60.0
DAY = 86_400


@dataclass
class _Taken:
    """What one name took: the times of its last minute, and how much on which day since 1970."""

    times: deque[float] = field(default_factory=deque)
    day: int = 0
    spent: int = 0


class MemoryLimiter:
    """A `Limiter` of this process. It forgets everything when the process ends.

    Minutes are measured by `clock`, which is never set, in seconds, and days by `now`, in seconds since 1970.
    """

    trouble = ""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, now: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self._now = now
        self._taken: dict[str, _Taken] = {}
        self._swept = clock()

    async def take(self, name: str, per_minute: int | None, daily: int | None) -> AccessDecision:
        """Count a request if it may pass."""
        moment, now = self._clock(), self._now()
        self._sweep(moment, now)
        taken = self._taken.setdefault(name, _Taken())
        shares = []
        if per_minute:
            shares.append(_minute(taken, per_minute, moment))
        if daily:
            shares.append(_day(taken, daily, now))
        verdict = decide(shares)
        if verdict.allowed and per_minute:
            taken.times.append(moment)
        if verdict.allowed and daily:
            taken.spent += 1
        return verdict

    def _sweep(self, moment: float, now: float) -> None:
        """Forget, once a minute, the names that took nothing that still counts."""
        if moment < self._swept + MINUTE:
            return
        self._swept = moment
        today = int(now // DAY)
        for name, taken in list(self._taken.items()):
            is_idle = not taken.times or taken.times[-1] <= moment - MINUTE
            if is_idle and (taken.day < today or not taken.spent):
                del self._taken[name]


def _minute(taken: _Taken, limit: int, moment: float) -> Share:
    times = taken.times
    while times and times[0] <= moment - MINUTE:
        times.popleft()
    left = limit - len(times)
    return Share(limit, left, times[-limit] + MINUTE - moment if left <= 0 else 0.0)


def _day(taken: _Taken, limit: int, now: float) -> Share:
    today = int(now // DAY)
    if today > taken.day:
        taken.spent = 0
    taken.day = today  # also an earlier one, so that a clock once set too far ahead does no harm
    return Share(limit, limit - taken.spent, (today + 1) * DAY - now)
