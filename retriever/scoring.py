"""The order of a question's passages: the one place that weighs everything known about each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]

# `_LEXICAL` was chosen on the dev questions of `benchmarks.answer_bearing` and on TREC DL 2019; the others
# were set by judgment, and `benchmarks.answer_bearing` measures what they do.
_LEXICAL = 0.1
_SHORT = 0.3
_LEAD = 0.5
_NUMBERS = 0.1
FULL = 25
"""Words from which a passage counts as whole. A shorter one is close to its title, and so to the question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFeatures:
    """What is known about each of `n` passages; (n,) arrays.

    `relevance` is that of the dual encoder, minus infinity where it is not known yet, `lexical` the BM25
    score divided by the best passage's, and `words` the length without the title. `lead` is 1 for the lead of
    the page on what the question asks to describe, else 0, or between if that is not sure. `numbers` is the
    share of the question's numbers that the passage or its title has: a release, a year.
    """

    relevance: Numbers
    lexical: Numbers
    words: Numbers
    lead: Numbers
    numbers: Numbers


def order(features: PassageFeatures) -> Numbers:
    """Return the value of each of `n` passages, by which they are sorted; an (n,) array."""
    missing = np.maximum(0.0, 1 - features.words / FULL) ** 2
    values: Numbers = (
        features.relevance
        + _LEXICAL * features.lexical
        - _SHORT * missing
        + _LEAD * features.lead
        + _NUMBERS * features.numbers
    )
    return values
