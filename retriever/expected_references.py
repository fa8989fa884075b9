"""What a page that is still on its way promises to give, judged by its title and snippet."""

from __future__ import annotations

import math

from citewell.retriever.ranking import PER_PAGE

# Fitted by maximum likelihood on the questions of QED: `python -m benchmarks.waiting_rules` prints them.
_BASE, _SCORE, _LEAST, _PLACE = -2.3, 7.6, -2.1, -1.6


def promise(score: float, place: int, least: float | None) -> float:
    """The expected number of references that a page will give.

    `score` is the relevance of its title and snippet, `place` its place among the hits, from 0, and `least`
    the score of the last of the references so far, or None when there are fewer than wanted: then a page
    promises all that it may give. Each of the `PER_PAGE` references that one page may give counts as won
    with the same probability, whose log-odds are linear in the two scores and the logarithm of the place.
    """
    if least is None:
        return float(PER_PAGE)
    odds = math.exp(_BASE + _SCORE * score + _LEAST * least + _PLACE * math.log(1 + place))
    return PER_PAGE * odds / (1 + odds)
