"""Which questions make up each step, and which of them are computed together: drawn before the first step.

A run that is taken up again after a break so goes on with the same steps, whatever was done before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple


class Size(NamedTuple):
    """How many answers an element has, and the tokens of its longest input."""

    answers: int
    longest: int


class ScorerStep(NamedTuple):
    """The elements of a step by their places, in parts that are computed together; tokens, with padding."""

    parts: tuple[tuple[int, ...], ...]
    tokens: int


def plan(
    sizes: Sequence[Size],
    repeats: Sequence[int],
    *,
    epochs: int,
    batch: int,
    part_tokens: int,
    seed: int,
    steps: int | None = None,
) -> list[ScorerStep]:
    """The steps of a run: in each epoch all elements, each as often as `repeats` says, in random order.

    The elements of a step are sorted by length and divided into parts that, padded to their longest input,
    have at most `part_tokens` tokens, or one element: answers to one question are never divided. `steps`
    cuts the plan off.
    """
    if steps == 0:
        return []
    found: list[ScorerStep] = []
    for epoch in range(epochs):
        draws = [place for place, repeat in enumerate(repeats) for _ in range(repeat)]
        random.Random(f"{seed} {epoch}").shuffle(draws)  # noqa: S311
        for start in range(0, len(draws), batch):
            found.append(_step(draws[start : start + batch], sizes, part_tokens))
            if steps is not None and len(found) == steps:
                return found
    return found


def _step(draws: Sequence[int], sizes: Sequence[Size], part_tokens: int) -> ScorerStep:
    parts: list[list[int]] = []
    rows: list[int] = []
    tokens = 0
    for place in sorted(draws, key=lambda place: (-sizes[place].longest, place)):
        answers = sizes[place].answers
        if parts and (rows[-1] + answers) * sizes[parts[-1][0]].longest <= part_tokens:
            parts[-1].append(place)
            rows[-1] += answers
        else:
            parts.append([place])
            rows.append(answers)
        tokens += answers * sizes[parts[-1][0]].longest
    return ScorerStep(tuple(map(tuple, parts)), tokens)
