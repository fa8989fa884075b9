"""The plan of a run: the questions of each step, and the passages of each question.

The plan is drawn before the first step, so that a resumed run follows the same plan.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from citewell.retriever.training.config import EncoderTrainingConfig
from citewell.retriever.training.rows import LabeledRow, RowSource


class QuestionDraw(NamedTuple):
    """A question of a batch: the number of its row, and the positions of the selected passages."""

    row: int
    passages: tuple[int, ...]


class Batch(NamedTuple):
    """The questions of one step, all from one source; `source` is its index among the sources."""

    source: int
    draws: tuple[QuestionDraw, ...]


def plan(sources: Sequence[RowSource], training: EncoderTrainingConfig) -> list[Batch]:
    """Plan the batches of a run: each epoch has every question once per `repeat` of its source.

    Each repetition of a question has other passages if its list has more than `list_size`. The last batch of
    a source in an epoch is smaller if the questions do not divide evenly. No row is twice in a batch.
    """
    batches: list[Batch] = []
    for epoch in range(training.epochs):
        batches += _epoch(sources, epoch, training.batch, training.list_size, training.seed)
        if training.steps is not None and len(batches) >= training.steps:
            return batches[: training.steps]
    return batches


def _epoch(sources: Sequence[RowSource], epoch: int, size: int, list_size: int, seed: int) -> list[Batch]:
    batches = []
    for place, source in enumerate(sources):
        for time in range(source.repeat):
            chance = random.Random(f"{seed} {epoch} {source.name} {time}")  # noqa: S311
            rows = list(range(len(source.rows)))
            chance.shuffle(rows)
            draws = [QuestionDraw(row, choose(source.rows[row], list_size, chance)) for row in rows]
            batches += [Batch(place, tuple(part)) for part in _parts(draws, size)]
    random.Random(f"{seed} {epoch}").shuffle(batches)  # noqa: S311
    return batches


def choose(row: LabeledRow, size: int, chance: random.Random) -> tuple[int, ...]:
    """Draw the positions of at most `size` passages: one with the highest label, and others at random."""
    if len(row.passages) <= size:
        return tuple(range(len(row.passages)))
    best = max(row.targets)
    first = chance.choice([place for place, target in enumerate(row.targets) if target == best])
    others = [place for place in range(len(row.passages)) if place != first]
    return (first, *chance.sample(others, size - 1))


def _parts(draws: Sequence[QuestionDraw], size: int) -> Iterator[Sequence[QuestionDraw]]:
    for start in range(0, len(draws), size):
        yield draws[start : start + size]
