"""The splits of a run's samples, and the reasons why some samples are in none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from citewell.bootstrap.config import DatasetConfig
from citewell.bootstrap.overlap import EvaluationQuestion, find_overlaps
from citewell.core.splits import Shares, Split, SplitAssignment, assign_splits
from citewell.generator.evaluation.held_out import digest, is_held_out

Why = Literal["evaluation_set", "several_splits"]

HELD_OUT = "held_out"
"""The name in place of a collection for questions of the list of held-out questions."""


class SampleQuestion(NamedTuple):
    """The question of a sample, by the sample's key."""

    key: str
    question: str


class Neighbor(msgspec.Struct, frozen=True, omit_defaults=True):
    """A similar question: its evaluation set (None for one of the run), its id and its text."""

    id: str
    question: str
    collection: str | None = None
    similarity: float | None = None


class LeftOut(msgspec.Struct, frozen=True):
    """A sample in no split: it is near an evaluation question, or near questions of several splits."""

    id: str
    question: str
    why: Why
    near: tuple[Neighbor, ...]


class KeySplits(NamedTuple):
    """The split of each sample by key, and the samples without one."""

    splits: dict[str, Split]
    left_out: tuple[LeftOut, ...]


def divide(
    asked: Sequence[SampleQuestion], evaluation: Sequence[EvaluationQuestion], config: DatasetConfig
) -> KeySplits:
    """Split samples in order, so that no question of dev, test or an evaluation set is trained on.

    Held-out questions (`citewell.generator.evaluation.held_out`) are in no split.
    """
    overlaps = find_overlaps([each.question for each in asked], evaluation, config.near)
    near = {
        number: Neighbor(found.id, found.question, found.collection, round(similarity, 4))
        for number, (found, similarity) in overlaps.items()
    }
    near |= {
        number: Neighbor(digest(each.question), each.question, HELD_OUT, 1.0)
        for number, each in enumerate(asked)
        if number not in near and is_held_out(each.question)
    }
    left_out = [
        LeftOut(asked[number].key, asked[number].question, "evaluation_set", (found,))
        for number, found in sorted(near.items())
    ]
    free = [each for number, each in enumerate(asked) if number not in near]
    placings = assign_splits([each.question for each in free], Shares(config.dev, config.test), config.near)
    splits = {each.key: where.split for each, where in zip(free, placings, strict=True) if where.split}
    return KeySplits(splits, (*left_out, *_between(free, placings)))


def _between(asked: Sequence[SampleQuestion], placings: Sequence[SplitAssignment]) -> Iterator[LeftOut]:
    for each, placing in zip(asked, placings, strict=True):
        if placing.split is None:
            near = tuple(Neighbor(asked[number].key, asked[number].question) for number in placing.near)
            yield LeftOut(each.key, each.question, "several_splits", near)
