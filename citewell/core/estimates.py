"""Means of measures over questions, with their intervals, for reports."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

from citewell.core.significance import interval

UNKNOWN = "not measured"


def estimate(values: Mapping[str, float]) -> dict[str, float]:
    """Return the mean of values by question, its 95% confidence interval, and their number."""
    low, high = interval(values)
    return {"value": mean(values.values()), "low": low, "high": high, "questions": len(values)}


def percent(values: Mapping[str, float] | None) -> str:
    """Return the mean of shares (0 to 1) in percent with its 95% interval, as in `12.5 (9.1 to 16.0)`."""
    if not values:
        return UNKNOWN
    found = estimate(values)
    return f"{100 * found['value']:.1f} ({100 * found['low']:.1f} to {100 * found['high']:.1f})"
