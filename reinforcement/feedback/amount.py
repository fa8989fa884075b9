"""How much feedback there is, and how well a scorer agrees with it."""

from __future__ import annotations

from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.progress import Log
from citewell.reinforcement.feedback.judgments import FeedbackCounts
from citewell.scorer.data.reading import read_comparisons
from citewell.scorer.data.types import TIE
from citewell.scorer.load import PreferenceScorer
from citewell.scorer.training.feedback import MINIMUM

MINIMUM_PINNED = 20
"""Minimum number of pinned questions: with fewer, the gate would measure chance."""


def check_amount(judgments: Path, counts: FeedbackCounts, tell: Log, *, force: bool) -> None:
    """Raise `InputError` if there is too little feedback to train on, or to measure with."""
    comparisons = _comparisons(judgments)
    tell(
        f"feedback: {comparisons:,} comparisons to train on, {counts.questions:,} questions with references, "
        f"and {counts.pinned:,} pinned for the gate"
    )
    enough = (
        (comparisons, "comparisons", 1 if force else MINIMUM),
        (counts.questions, "questions with references", 2),
        (counts.pinned, "pinned questions with references", 1 if force else MINIMUM_PINNED),
    )
    few = [f"{count:,} {what} of at least {least:,}" for count, what, least in enough if count < least]
    if few:
        hint = "" if force else ", or add --force"
        raise InputError(
            f"There is too little feedback to learn from: {'; '.join(few)}.",
            "Collect more: a choice between answers, a ranking, or thumbs up and down for one question is a "
            f"comparison, and a fifth of the questions is pinned{hint}.",
        )


def agreement(file: Path, scorer: PreferenceScorer) -> float | None:
    """Return the share of decided comparisons in which a scorer agrees with people; None without any.

    Equal scores count half.
    """
    try:
        found = [each for each in read_comparisons(file).comparisons if each.preference != TIE]
    except InputError:
        return None
    right = 0.0
    for each in found:
        first, second = scorer.rate(each.question, [each.first, each.second], each.both_references)
        right += 0.5 if first == second else (first > second) == (each.preference > TIE)
    return right / len(found) if found else None


def _comparisons(file: Path) -> int:
    try:
        return len(read_comparisons(file).comparisons)
    except InputError:
        return 0
