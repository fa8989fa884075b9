"""The plan of a run: the examples of each step, drawn before the first step, so that a resumed run follows
the same plan.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from citewell.core.training.config import PartedOptimizationConfig


class Size(NamedTuple):
    """The size of an example: its rows, the tokens of the longest, and those of all rows together."""

    rows: int
    longest: int
    tokens: int


class PlannedDraw(NamedTuple):
    """The index of an example, and the number of times it has been seen before."""

    place: int
    time: int


class PlannedStep(NamedTuple):
    """The examples of a step, in parts that are computed together, and their tokens without padding."""

    parts: tuple[tuple[PlannedDraw, ...], ...]
    tokens: int


def plan(
    sizes: Sequence[Size], repeats: Sequence[int], training: PartedOptimizationConfig
) -> list[PlannedStep]:
    """Return the steps of a run: each epoch has every example `repeats` times, in random order.

    The examples of a step are sorted by length and divided into parts that, padded to their longest row, have
    at most `part_tokens` tokens, or one example: the rows of an example are never divided.
    """
    steps: list[PlannedStep] = []
    if training.steps == 0:
        return steps
    for epoch in range(training.epochs):
        draws = [
            PlannedDraw(place, epoch * repeat + time)
            for place, repeat in enumerate(repeats)
            for time in range(repeat)
        ]
        random.Random(f"{training.seed} {epoch}").shuffle(draws)  # noqa: S311
        for start in range(0, len(draws), training.batch):
            steps.append(planned_step(draws[start : start + training.batch], sizes, training.part_tokens))
            if len(steps) == training.steps:
                return steps
    return steps


def planned_step(draws: Sequence[PlannedDraw], sizes: Sequence[Size], part_tokens: int) -> PlannedStep:
    """Return a step of these examples, the longest first; `sizes` has one entry per place."""
    parts: list[list[PlannedDraw]] = []
    rows = 0
    for draw in sorted(draws, key=lambda draw: (-sizes[draw.place].longest, draw)):
        size = sizes[draw.place]
        if parts and (rows + size.rows) * sizes[parts[-1][0].place].longest <= part_tokens:
            parts[-1].append(draw)
            rows += size.rows
        else:
            parts.append([draw])
            rows = size.rows
    return PlannedStep(tuple(map(tuple, parts)), sum(sizes[draw.place].tokens for draw in draws))
