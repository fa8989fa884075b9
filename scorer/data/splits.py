"""Which questions a scorer learns from, and which it is measured on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from citewell.core.splits import Shares, Split, assign_splits
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.types import ComparisonData


class QuestionSplits(NamedTuple):
    """The split of each question, by its group; `left_out` are near questions of several splits."""

    splits: Mapping[str, Split]
    left_out: tuple[str, ...]


def divide(sources: Iterable[ComparisonData], config: SplitConfig) -> QuestionSplits:
    """Divide the questions of all sources, so that near-duplicates of all of them are in one split.

    A question goes by the hash of its words, or to earlier ones that are near it: data that is added at the
    end moves no question.
    """
    questions: dict[str, str] = {}
    for data in sources:
        for voted in data.voted:
            questions.setdefault(voted.group, voted.question)
        for group in data.groups:
            questions.setdefault(group.key, group.question)
    placings = assign_splits(list(questions.values()), Shares(config.dev, config.test), config.near)
    placed = dict(zip(questions, placings, strict=True))
    return QuestionSplits(
        {key: where.split for key, where in placed.items() if where.split is not None},
        tuple(key for key, where in placed.items() if where.split is None),
    )


def part(data: ComparisonData, division: QuestionSplits, split: Split) -> ComparisonData:
    """The questions of one split; the funnel and the problems stay those of all."""
    splits = division.splits
    return replace(
        data,
        groups=tuple(group for group in data.groups if splits.get(group.key) == split),
        voted=tuple(voted for voted in data.voted if splits.get(voted.group) == split),
    )
