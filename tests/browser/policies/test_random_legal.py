"""Random legal browsing: nothing that it does is invalid."""

from __future__ import annotations

from citewell.browser.environment import Browser
from citewell.browser.episodes import Question, finished
from citewell.browser.page import Link, TextPage
from citewell.browser.policies.random_legal import RandomLegal

from .states import TIDES

LINKS = (
    Link("Sun", "https://sea.example/sun", "sea.example"),
    Link("Neap tide", "https://sea.example/neap", "sea.example"),
)


class Sea:
    """A web of pages that all are the same, ten windows long."""

    async def search(self, query: str) -> TextPage:
        links = (Link("Tides", "https://sea.example/tides", "sea.example"),)
        title = f"Search results for: {query}"
        return TextPage("results", "", "", title, title, "【0†Tides†sea.example】\nSpring tides.", links)

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        text = "\n\n".join([TIDES, *(f"Line {n} of a page that is long enough." for n in range(100))])
        return TextPage("page", url, "sea.example", "Tides (sea.example)", "Tides", text, LINKS)


async def test_all_its_commands_can_be_carried_out() -> None:
    kinds: set[str] = set()
    for seed in range(20):
        question = Question("When do spring tides happen?", actions=60)
        episode = await finished(Browser(Sea()), RandomLegal(seed), question)
        kinds |= {step.kind for step in episode.steps}
    assert "invalid" not in kinds
    assert {"search", "click_link", "quote", "scroll_down", "scroll_up", "back", "top", "end"} <= kinds


async def test_the_seed_decides() -> None:
    question = Question("When do spring tides happen?", actions=20)
    episodes = [await finished(Browser(Sea()), RandomLegal(seed), question) for seed in (1, 1, 2)]
    first, same, other = ([step.command for step in episode.steps] for episode in episodes)
    assert first == same != other
