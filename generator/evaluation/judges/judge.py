"""The protocol of judges: do these passages support this claim?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class ClaimAndPassages(NamedTuple):
    """A claim, and the passages that together should support it."""

    claim: str
    passages: tuple[str, ...]


class SupportJudge(Protocol):
    """A judge of many pairs at once; `name` is shown in tables."""

    name: str

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return how far the passages of each of `n` pairs say its claim; only the judge's own compare."""
        ...

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return whether the passages of each of `n` pairs support its claim; n values."""
        ...


class CachingJudge:
    """A cache that asks a judge about each pair once: precision repeats recall's pairs."""

    def __init__(self, judge: SupportJudge) -> None:
        self.name = judge.name
        self._judge = judge
        self._known: dict[ClaimAndPassages, bool] = {}

    @property
    def verdicts(self) -> Mapping[ClaimAndPassages, bool]:
        """All verdicts so far."""
        return self._known

    def grades(self, pairs: Sequence[ClaimAndPassages]) -> list[float]:
        """Return the judge's own grades; n values."""
        return self._judge.grades(pairs)

    def supports(self, pairs: Sequence[ClaimAndPassages]) -> list[bool]:
        """Return the judge's own verdicts, cached; n values."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if new:
            self._known.update(zip(new, self._judge.supports(new), strict=True))
        return [self._known[pair] for pair in pairs]
