"""The scales of forms, and the check of scores against them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from citewell.core.errors import InputError


class LevelChoice(NamedTuple):
    """A value that can be chosen, and the words for it."""

    value: str | int
    words: str


class RatingScale(NamedTuple):
    """One criterion: its name, its title, its question, and the meaning of each level from `first` up.

    With `low`, the first level is the best. Raters who do not know may omit an `optional` scale.
    """

    name: str
    title: str
    question: str
    levels: tuple[str, ...]
    low: bool = False
    optional: bool = False
    first: int = 0

    def choices(self) -> list[LevelChoice]:
        """Return the levels in their order; an optional scale can also be left open."""
        levels = [LevelChoice(level, words) for level, words in enumerate(self.levels, self.first)]
        return [*levels, LevelChoice("", "I do not know")] if self.optional else levels


class ComparisonScale(NamedTuple):
    """A criterion of a comparison: its name, its title, and its question."""

    name: str
    title: str
    question: str


YES_OR_NO = ("No", "Yes")
PREFERENCES = (
    LevelChoice(-2, "A much better"),
    LevelChoice(-1, "A better"),
    LevelChoice(0, "Equally good"),
    LevelChoice(1, "B better"),
    LevelChoice(2, "B much better"),
)
"""The levels of a comparison (WebGPT, appendix C.2, https://arxiv.org/abs/2112.09332)."""


def check_scores(
    scores: Mapping[str, int], scales: Sequence[RatingScale], what: str, *, every: bool = True
) -> None:
    """Raise `InputError` if a score does not belong to these scales or, with `every`, one is missing."""
    known = {scale.name: scale for scale in scales}
    for name, score in scores.items():
        scale = known.get(name)
        if scale is None or not scale.first <= score < scale.first + len(scale.levels):
            hint = f"The scales are {', '.join(known)}." if known else "The form has no such scales."
            raise InputError(f"{what} has no level {score} of {name[:40]!r}.", hint)
    missing = [scale.name for scale in scales if not scale.optional and scale.name not in scores]
    if missing and every:
        optional = [scale.name for scale in scales if scale.optional]
        hint = f"Optional: {', '.join(optional) or 'none'}."
        raise InputError(f"{what} has no score of {', '.join(missing)}.", hint)
