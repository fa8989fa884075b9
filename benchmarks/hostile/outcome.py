"""How attacks on the fetcher and the readers of pages end, and what they cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.hostile.tally import AttackCount, Tally
from citewell.core.errors import ExtractionError, FetchError

_SLACK_SECONDS = 1.5  # above a limit, on a machine that is busy


@dataclass
class AttackResult:
    """The outcome of one group of attacks. Megabytes are resident memory, per worker."""

    attacks: int = 0
    pages: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown_megabytes: float = 0.0
    worker_megabytes: float = 0.0

    async def run(self, name: str, attempt: Callable[[], Awaitable[object]], seconds: float) -> None:
        """Record how an attack ends; anything but a page or a reason, and being late, is a fault."""
        started = time.perf_counter()
        self.attacks += 1
        try:
            await attempt()
            self.pages += 1
        except (FetchError, ExtractionError) as error:
            self.reasons[error.message] += 1
        except Exception as error:  # noqa: BLE001 - which is what this program looks for
            self.faults.append(f"{name}: {type(error).__name__}: {error}")
        spent = time.perf_counter() - started
        self.slowest = max(self.slowest, spent)
        if spent > seconds + _SLACK_SECONDS:
            self.faults.append(f"{name}: it took {spent:.1f} s")

    def to_json(self) -> dict[str, Any]:
        """Return all but rare reasons."""
        result = asdict(self)
        result["reasons"] = dict(self.reasons.most_common(40))
        for key in ("slowest", "grown_megabytes", "worker_megabytes"):
            result[key] = round(result[key], 2)
        return result


def tally_of(outcomes: dict[str, AttackResult]) -> Tally:
    """Return the counts of groups of attacks."""
    return Tally({name: AttackCount(each.attacks, each.faults) for name, each in outcomes.items()})
