"""Division of questions into training, dev and test splits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from citewell.core.splits import Shares, Split, assign_splits
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.types import ComparisonData


class QuestionSplits(NamedTuple):
    """The split of each question, by its group; `left_out` are near-duplicates across splits."""

    splits: Mapping[str, Split]
    left_out: tuple[str, ...]


def divide(sources: Iterable[ComparisonData], config: SplitConfig) -> QuestionSplits:
    """Divide the questions of all sources; near-duplicates are in one split.

    The split of a question depends on the hash of its words, or on an earlier near-duplicate: data that is
    added at the end moves no question.
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
    """Return the questions of one split; the funnel and the problems remain those of all questions."""
    splits = division.splits
    return replace(
        data,
        groups=tuple(group for group in data.groups if splits.get(group.key) == split),
        voted=tuple(voted for voted in data.voted if splits.get(voted.group) == split),
    )
