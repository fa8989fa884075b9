"""Progress messages of long runs."""

from __future__ import annotations

import time
from collections.abc import Callable

Log = Callable[[str], None]
"""Shows one line of text to the user."""

SECONDS = 15.0
"""Minimum time between two progress messages."""


def duration(seconds: float) -> str:
    """`seconds` in words: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Counter:
    """A counter that logs how many items are done, the rate and the time left, at most every `SECONDS`.

    The rate counts from the first call, so that loading and items done earlier do not distort it.
    """

    def __init__(self, label: str, log: Log) -> None:
        self._label = label
        self._log = log
        self._logged = time.monotonic()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Note that `done` of `total` items are done, and log it if the last message is old enough."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
            return
        start, before = self._first
        if now - self._logged < SECONDS or done == before:
            return
        self._logged = now
        rate = (done - before) / (now - start)
        left = duration((total - done) / rate)
        speed = f"{rate:.0f}" if rate >= 10 else f"{rate:.2f}"
        self._log(f"{self._label}: {done:,} of {total:,}, {speed}/s, {left} left")
