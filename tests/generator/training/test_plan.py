"""Plans: every row once, in parts of like length that fit."""

from __future__ import annotations

from collections import Counter

from citewell.generator.training.plan import plan

LENGTHS = [[100, 900, 300, 200, 250], [50, 60]]


def test_every_row_is_seen_as_often_as_it_is_to_be() -> None:
    steps = plan(LENGTHS, [1, 3], epochs=2, batch=4, part_tokens=1000, seed=0)
    draws = [draw for step in steps for part in step.parts for draw in part]
    assert len(set(draws)) == len(draws)
    assert Counter((draw.source, draw.row) for draw in draws) == (
        {(0, row): 2 for row in range(5)} | {(1, row): 6 for row in range(2)}
    )
    assert sum(step.tokens for step in steps) == 2 * 1750 + 6 * 110


def test_parts_hold_rows_of_like_length_and_fit() -> None:
    for step in plan(LENGTHS, [1, 1], epochs=1, batch=7, part_tokens=700, seed=0):
        for part in step.parts:
            longest = max(LENGTHS[draw.source][draw.row] for draw in part)
            assert len(part) == 1 or len(part) * longest <= 700


def test_a_seed_has_one_plan_and_steps_cut_it_off() -> None:
    whole = plan(LENGTHS, [1, 1], epochs=3, batch=2, part_tokens=700, seed=1)
    assert plan(LENGTHS, [1, 1], epochs=3, batch=2, part_tokens=700, seed=1, steps=5) == whole[:5]
    assert plan(LENGTHS, [1, 1], epochs=3, batch=2, part_tokens=700, seed=2) != whole
