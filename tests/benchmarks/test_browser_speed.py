from __future__ import annotations

from benchmarks.browser_speed import HITS, gym_speed, memory, speed
from citewell.browser.limits import BrowserLimits
from citewell.browser.page import TextPage
from citewell.generator.estimate import estimate_tokens
from tests.browser.pages import article

PAGES: dict[str, TextPage] = {
    page.url: page
    for page in (article("Crows fly south. " * 200, f"Crow {n}", path=f"{n}") for n in range(HITS + 2))
}


async def test_steps_of_all_kinds_are_taken_and_timed() -> None:
    took = await speed(PAGES, BrowserLimits(), estimate_tokens, 200)
    assert sum(map(len, took.kinds.values())) == took.steps == 200
    assert {"search", "click_link", "quote", "scroll_down", "end"} <= set(took.kinds)
    assert took.seconds > 0


async def test_episodes_under_way_are_weighed() -> None:
    assert await memory(PAGES, 5, 10) >= 0


def test_environments_of_gymnasium_are_timed() -> None:
    assert gym_speed(PAGES, 40) > 0
