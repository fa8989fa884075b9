"""Shares of pairs, resampled by question, since pairs of one question are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from citewell.core.significance import interval


class ClusterShare(NamedTuple):
    """The contribution of a question to a share: `hits` of `total`."""

    hits: float
    total: float


Parts = Mapping[str, ClusterShare]
"""By the question's key."""


class Estimate(NamedTuple):
    """A value with its 95% confidence interval, and the numbers of questions and items behind it."""

    value: float
    low: float
    high: float
    questions: int
    number: int


def share(parts: Parts) -> Estimate | None:
    """Return all hits / all totals, with a bootstrap interval over questions; None if there are none.

    The interval is that of the linearized ratio: a question with many pairs moves numerator and denominator.
    """
    total = sum(part.total for part in parts.values())
    if not total:
        return None
    value = sum(part.hits for part in parts.values()) / total
    mean = total / len(parts)
    low, high = interval(
        {key: value + (part.hits - value * part.total) / mean for key, part in parts.items()}
    )
    return Estimate(value, low, high, len(parts), round(total))


def weighted(parts: Parts) -> dict[str, float]:
    """Return a value per question such that their mean is the share, for paired tests over questions."""
    mean = sum(part.total for part in parts.values()) / len(parts)
    return {key: part.hits / mean for key, part in parts.items()}


def mean(values: Mapping[str, float]) -> Estimate | None:
    """Return the mean of the questions' values, with a bootstrap interval; None without questions."""
    if not values:
        return None
    low, high = interval(values)
    return Estimate(sum(values.values()) / len(values), low, high, len(values), len(values))
