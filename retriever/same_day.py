"""The day that a question names: to a model, the lines of a log are nearly alike."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from citewell.core.dates import Day, days
from citewell.retriever.encoder.encoder import Vectors

_GAIN = 0.3


def by_day(question: str, texts: Sequence[str]) -> Vectors:
    """Return what each of `n` texts gains, (n,): more if it names a day of the question, less for another.

    A text that names several other days may mean the time between them, and loses nothing.
    """
    asked = days(question)
    return np.array([_gain(asked, days(text)) if asked else 0.0 for text in texts], dtype=np.float32)


def _gain(asked: Set[Day], told: Set[Day]) -> float:
    if any(day.may_be(other) for day in asked for other in told):
        return _GAIN
    return -_GAIN if len(told) == 1 else 0.0
