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

    `raters` has the split of each rater, which goes before that of the question. Training questions in
    `other_half` are not trained on.
    """

    splits: Mapping[str, Split]
    left_out: tuple[str, ...]
    raters: Mapping[str, Split] = MappingProxyType({})
    other_half: frozenset[str] = frozenset()

    def of(self, comparison: Comparison) -> Split | None:
        """Return the split of a comparison; None if it is left out."""
        return self._used(
            self.raters.get(comparison.rater) or self.splits.get(comparison.group), comparison.group
        )

    def of_question(self, group: str) -> Split | None:
        """Return the split of a question, by its group; None if it is left out."""
        return self._used(self.splits.get(group), group)

    def _used(self, split: Split | None, group: str) -> Split | None:
        return None if split == "train" and group in self.other_half else split


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
    asked = list(questions.values())
    placings = assign_splits(asked, shares, config.near)
    placed = dict(zip(questions, placings, strict=True))
    return QuestionSplits(
        {key: where.split for key, where in placed.items() if where.split is not None},
        tuple(key for key, where in placed.items() if where.split is None),
        _raters(sources, shares) if config.by == "rater" else {},
        _other_half(asked, list(questions), config),
    )


def _other_half(asked: Sequence[str], groups: Sequence[str], config: SplitConfig) -> frozenset[str]:
    """Return the groups that are not in the half, and those that are near questions of both halves."""
    if config.half == "all":
        return frozenset()
    # The hash of a training question is above the shares of dev and test: this is the middle of the rest.
    middle = (1 + config.dev + config.test) / 2
    wanted = "dev" if config.half == "first" else "train"
    halves = assign_splits(asked, Shares(middle, 0.0), config.near)
    return frozenset(group for group, half in zip(groups, halves, strict=True) if half.split != wanted)


def _raters(sources: Sequence[ComparisonData], shares: Shares) -> Mapping[str, Split]:
    names = {each.rater for data in sources for each in data.comparisons if each.rater}
    return {name: split_by_hash(name, shares) for name in sorted(names)}


def part(data: ComparisonData, division: QuestionSplits, split: Split) -> ComparisonData:
    """Return the questions of one split; the funnel and the problems remain those of all questions."""
    return replace(
        data,
        groups=tuple(group for each in data.groups if (group := _own(each, division, split)).comparisons),
        voted=tuple(voted for voted in data.voted if division.of_question(voted.group) == split),
    )


def _own(group: Group, division: QuestionSplits, split: Split) -> Group:
    comparisons = tuple(each for each in group.comparisons if division.of(each) == split)
    return replace(group, comparisons=comparisons)
