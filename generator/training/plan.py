"""Which rows make up each step, and which of them are computed together: drawn once, before the first step.

A run that is taken up again after a break so goes on with the same steps, whatever was done before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple


class RowDraw(NamedTuple):
    """A row of a step: the place of its source, its place there, and the how-manieth time it is seen."""

    source: int
    row: int
    time: int


class GeneratorStep(NamedTuple):
    """The rows of a step, in parts that are computed together, and how many tokens they have."""

    parts: tuple[tuple[RowDraw, ...], ...]
    tokens: int


def plan(
    lengths: Sequence[Sequence[int]],
    repeats: Sequence[int],
    *,
    epochs: int,
    batch: int,
    part_tokens: int,
    seed: int,
    steps: int | None = None,
) -> list[GeneratorStep]:
    """The steps of a run: in each epoch all rows once, times their source's repeat, in random order.

    `lengths` are the tokens of each row of each source. The rows of a step are sorted by length and divided
    into parts that, padded to their longest row, have at most `part_tokens` tokens, or one row. `steps` cuts
    the plan off.
    """
    found: list[GeneratorStep] = []
    for epoch in range(epochs):
        draws = [
            RowDraw(source, row, epoch * repeats[source] + time)
            for source, rows in enumerate(lengths)
            for row in range(len(rows))
            for time in range(repeats[source])
        ]
        random.Random(f"{seed} {epoch}").shuffle(draws)  # noqa: S311
        for start in range(0, len(draws), batch):
            found.append(_step(draws[start : start + batch], lengths, part_tokens))
            if steps is not None and len(found) == steps:
                return found
    return found


def _step(draws: Sequence[RowDraw], lengths: Sequence[Sequence[int]], part_tokens: int) -> GeneratorStep:
    def length(draw: RowDraw) -> int:
        return lengths[draw.source][draw.row]

    parts: list[list[RowDraw]] = []
    for draw in sorted(draws, key=lambda draw: (-length(draw), draw)):
        if parts and (len(parts[-1]) + 1) * length(parts[-1][0]) <= part_tokens:
            parts[-1].append(draw)
        else:
            parts.append([draw])
    return GeneratorStep(tuple(tuple(part) for part in parts), sum(map(length, draws)))
