"""Division of questions into training, dev and test splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from citewell.core.splits import Shares, Split, assign_splits, split_by_hash
from citewell.scorer.data.config import SplitConfig
from citewell.scorer.data.types import Comparison, ComparisonData, Group


class QuestionSplits(NamedTuple):
    """The split of each question, by its group; `left_out` are near-duplicates across splits.

    `raters` has the split of each rater, which goes before that of the question.
    """

    splits: Mapping[str, Split]
    left_out: tuple[str, ...]
    raters: Mapping[str, Split] = MappingProxyType({})

    def of(self, comparison: Comparison) -> Split | None:
        """Return the split of a comparison; None if it is left out."""
        return self.raters.get(comparison.rater) or self.splits.get(comparison.group)


def divide(sources: Sequence[ComparisonData], config: SplitConfig) -> QuestionSplits:
    """Divide the questions of all sources; near-duplicates are in one split.

    By rater, the comparisons of a person are in one split, so that the others measure how a scorer agrees
    with people whom it did not learn from (InstructGPT, appendices A.3 and E.2,
    https://arxiv.org/abs/2203.02155).

    The split of a question depends on the hash of its words, or on an earlier near-duplicate: data that is
    added at the end moves no question.
    """
    questions: dict[str, str] = {}
    for data in sources:
        for voted in data.voted:
            questions.setdefault(voted.group, voted.question)
        for group in data.groups:
            questions.setdefault(group.key, group.question)
    shares = Shares(config.dev, config.test)
    placings = assign_splits(list(questions.values()), shares, config.near)
    placed = dict(zip(questions, placings, strict=True))
    return QuestionSplits(
        {key: where.split for key, where in placed.items() if where.split is not None},
        tuple(key for key, where in placed.items() if where.split is None),
        _raters(sources, shares) if config.by == "rater" else {},
    )


def _raters(sources: Sequence[ComparisonData], shares: Shares) -> Mapping[str, Split]:
    names = {each.rater for data in sources for each in data.comparisons if each.rater}
    return {name: split_by_hash(name, shares) for name in sorted(names)}


def part(data: ComparisonData, division: QuestionSplits, split: Split) -> ComparisonData:
    """Return the questions of one split; the funnel and the problems remain those of all questions."""
    splits = division.splits
    return replace(
        data,
        groups=tuple(group for each in data.groups if (group := _own(each, division, split)).comparisons),
        voted=tuple(voted for voted in data.voted if splits.get(voted.group) == split),
    )


def _own(group: Group, division: QuestionSplits, split: Split) -> Group:
    comparisons = tuple(each for each in group.comparisons if division.of(each) == split)
    return replace(group, comparisons=comparisons)
