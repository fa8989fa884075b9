"""What a run tells people while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable

Tell = Callable[[str], None]

SECONDS = 15.0
"""How often progress is told."""


def duration(seconds: float) -> str:
    """`seconds` as people say it: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


class Counter:
    """Tells how many of how many things are done, how fast, and what is left; now and then only.

    The rate counts from the first call: what was done by then, and the time that it took, play no part.
    """

    def __init__(self, what: str, tell: Tell) -> None:
        self._what = what
        self._tell = tell
        self._told = time.monotonic()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int, total: int) -> None:
        """Say that `done` of `total` are done."""
        now = time.monotonic()
        if self._first is None:
            self._first = (now, done)
            return
        start, before = self._first
        if now - self._told < SECONDS or done == before:
            return
        self._told = now
        rate = (done - before) / (now - start)
        left = duration((total - done) / rate)
        speed = f"{rate:.0f}" if rate >= 10 else f"{rate:.2f}"
        self._tell(f"{self._what}: {done:,} of {total:,}, {speed} a second, {left} left")
