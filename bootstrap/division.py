"""The division of a run's samples: which split each is in, which are in none, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import msgspec

from citewell.bootstrap.dataset_config import DatasetConfig
from citewell.bootstrap.overlap import EvaluationQuestion, find_overlaps
from citewell.core.splits import Shares, Split, SplitAssignment, assign_splits
from citewell.generator.evaluation.held_out import digest, is_held_out

Why = Literal["evaluation_set", "several_splits"]

HELD_OUT = "held_out"
"""The collection that is named for questions of the list of held questions, without a file of theirs."""


class SampleQuestion(NamedTuple):
    """The question of a sample, by the sample's key."""

    key: str
    question: str


class Neighbour(msgspec.Struct, frozen=True, omit_defaults=True):
    """A question that another is near: the evaluation set (none for one of the run), its id and its words."""

    id: str
    question: str
    collection: str | None = None
    similarity: float | None = None


class LeftOut(msgspec.Struct, frozen=True):
    """A sample in no split: it is near an evaluation question, or near questions of several splits."""

    id: str
    question: str
    why: Why
    near: tuple[Neighbour, ...]


class KeySplits(NamedTuple):
    """The split of each key that has one, and the samples that have none."""

    splits: dict[str, Split]
    left_out: tuple[LeftOut, ...]


def divide(
    asked: Sequence[SampleQuestion], evaluation: Sequence[EvaluationQuestion], config: DatasetConfig
) -> KeySplits:
    """Divide samples in order, so that nothing measured by dev, test or an evaluation set is learnt from.

    Held-out questions (`citewell.generator.evaluation.held_out`) are left out too, in whatever sets they
    stand.
    """
    overlaps = find_overlaps([each.question for each in asked], evaluation, config.near)
    near = {
        number: Neighbour(found.id, found.question, found.collection, round(similarity, 4))
        for number, (found, similarity) in overlaps.items()
    }
    near |= {
        number: Neighbour(digest(each.question), each.question, HELD_OUT, 1.0)
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
            near = tuple(Neighbour(asked[number].key, asked[number].question) for number in placing.near)
            yield LeftOut(each.key, each.question, "several_splits", near)
