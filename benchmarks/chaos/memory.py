"""Whether the memory of workers grows."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

_GROWTH = 1.15
_WARM_SECONDS = 60.0


class MemorySample(NamedTuple):
    """The memory of a worker at an age, in seconds and megabytes."""

    pid: int
    age: float
    megabytes: float


def memory(samples: Sequence[MemorySample]) -> dict[str, float]:
    """Return how many workers lived long enough to compare, their largest growth, and the peak of a worker.

    The growth is from the median of the first third of a worker's life to that of the last, without its first
    minute, in which it loads and answers its first questions. On busy cores that takes longer, so only
    workers that lived half as long as the oldest are compared.
    """
    lives: dict[int, list[MemorySample]] = {}
    for each in samples:
        if each.age >= _WARM_SECONDS:
            lives.setdefault(each.pid, []).append(each)
    longest = max((life[-1].age for life in lives.values()), default=0.0)
    growths = []
    for life in lives.values():
        third = len(life) // 3
        lived = life[-1].age - life[0].age
        if third and lived >= _WARM_SECONDS and life[-1].age >= longest / 2:
            first, last = ([one.megabytes for one in part] for part in (life[:third], life[-third:]))
            growths.append(statistics.median(last) / statistics.median(first))
    return {
        "compared_workers": len(growths),
        "oldest_minutes": round(longest / 60, 1),
        "largest_growth": round(max(growths, default=1.0), 3),
        "peak_mb": round(max((each.megabytes for each in samples), default=0.0), 1),
    }


def check_memory(found: dict[str, float]) -> list[str]:
    """Return that the memory of a worker has grown, if it has."""
    if found["largest_growth"] <= _GROWTH:
        return []
    return [f"the memory of a worker has grown by a factor of {found['largest_growth']}"]
