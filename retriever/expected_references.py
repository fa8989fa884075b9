"""The expected number of references from a pending page, by its title and snippet."""

from __future__ import annotations

import math

from citewell.retriever.choosing import PER_PAGE

# Fitted by maximum likelihood on the questions of QED: `python -m benchmarks.waiting_rules` prints them.
_BASE, _SCORE, _LOWEST, _POSITION = -0.75, 5.2, -2.29, -1.48


def expected_references(score: float, position: int, lowest: float | None) -> float:
    """Return the expected number of references from a page.

    `score` is the relevance of its title and snippet, `position` its position among the hits, from 0, and
    `lowest` the score of the last of the references so far, or None while there are too few: then a page is
    expected to give as many as allowed. Each of the `PER_PAGE` references that one page may give counts as
    won with the same probability, whose log-odds are linear in the two scores and the logarithm of the
    position.
    """
    if lowest is None:
        return float(PER_PAGE)
    odds = math.exp(_BASE + _SCORE * score + _LOWEST * lowest + _POSITION * math.log(1 + position))
    return PER_PAGE * odds / (1 + odds)
