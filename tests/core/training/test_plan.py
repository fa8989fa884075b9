"""Plans: every example once, in parts of similar length that fit."""

from __future__ import annotations

from collections import Counter

from citewell.core.training.config import PartedOptimizationConfig
from citewell.core.training.plan import Size, plan

SIZES = [Size(1, tokens, tokens) for tokens in (100, 900, 300, 200, 250, 50, 60)]
REPEATS = [1, 1, 1, 1, 1, 3, 3]


def config(**changes: int) -> PartedOptimizationConfig:
    return PartedOptimizationConfig(batch=4, part_tokens=1000, epochs=2).model_copy(update=changes)


def test_every_example_is_seen_as_often_as_repeats_say() -> None:
    steps = plan(SIZES, REPEATS, config())
    draws = [draw for step in steps for part in step.parts for draw in part]
    assert len(set(draws)) == len(draws)
    assert Counter(draw.place for draw in draws) == {place: 2 * n for place, n in enumerate(REPEATS)}
    assert sum(step.tokens for step in steps) == 2 * (1750 + 3 * 110)


def test_parts_hold_examples_of_similar_length_and_fit() -> None:
    for step in plan(SIZES, [1] * 7, config(batch=7, part_tokens=700)):
        for part in step.parts:
            assert len(part) == 1 or len(part) * SIZES[part[0].place].longest <= 700


def test_the_rows_of_an_example_are_never_divided() -> None:
    sizes = [Size(2, 10, 20), Size(4, 30, 110), Size(2, 12, 20), Size(8, 50, 300), Size(2, 11, 20)]
    steps = plan(sizes, [1, 2, 1, 1, 1], config(part_tokens=100, seed=3))
    seen = [draw.place for step in steps for part in step.parts for draw in part]
    assert sorted(seen) == sorted([0, 1, 1, 2, 3, 4] * 2)
    for step in steps:
        for part in step.parts:
            tokens = sum(sizes[draw.place].rows for draw in part) * sizes[part[0].place].longest
            assert tokens <= 100 or len(part) == 1


def test_the_seed_decides_and_steps_cut_the_plan_off() -> None:
    whole = plan(SIZES, REPEATS, config(seed=1))
    assert plan(SIZES, REPEATS, config(seed=1, steps=3)) == whole[:3]
    assert plan(SIZES, REPEATS, config(seed=2)) != whole
    assert plan(SIZES, REPEATS, config(steps=0)) == []
