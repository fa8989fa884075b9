"""A small run of the fuzzing of the text browser; `python -m benchmarks.browser_fuzz` is the large one."""

from __future__ import annotations

import random

import pytest

from benchmarks.browser_fuzz import fuzz, random_pages

pytest.importorskip("html2text", reason="the extra browser is not installed")


@pytest.mark.parametrize("seed", [1, 2])
async def test_random_commands_on_random_pages_break_nothing(seed: int) -> None:
    report = await fuzz(1_500, seed, most_pages=60)
    assert sum(report.kinds.values()) == 1_500
    assert set(report.kinds) >= {"search", "click_link", "quote", "find_in_page", "back", "invalid"}
    assert report.kinds["invalid"] < 1_100


def test_the_same_seed_makes_the_same_pages() -> None:
    first, second = (random_pages(random.Random(3), 10) for _ in range(2))
    assert first == second
