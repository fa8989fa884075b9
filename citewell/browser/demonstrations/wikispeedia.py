"""Demonstrations of navigation from people's clicks in Wikispeedia games that got closer to their target.

Players moved between articles by links alone (West and Leskovec 2012,
https://doi.org/10.1145/2187836.2187920). Only the clicks are recorded; the scrolling that brings each link
into view is added.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from citewell.browser.commands import Back, Click, Command, Scroll, Search
from citewell.browser.environment import Browser
from citewell.browser.episode import Episode, Step

BACK = "<"
_ACTIONS = 40  # some for each of the links that lead from any article to any other
_MAX_SCROLLS = 3  # commands, of up to three windows each, before a link is given up


class Game(NamedTuple):
    """A game: the names of articles, with `BACK` among the `path`, and its final distance from the target.

    Distances are numbers of links: `shortest` from the source to the target, and `final` from the article
    where the game was given up.
    """

    id: str
    source: str
    target: str
    path: tuple[str, ...]
    shortest: int
    final: int

    @property
    def reward(self) -> float:
        """The share of the distance that the player covered; below 0 if the game ended farther away."""
        return (self.shortest - self.final) / self.shortest


async def replay(
    game: Game, browser: Browser, address: Callable[[str], str], about: Mapping[str, str]
) -> Episode | None:
    """Replay a game in the text browser; `address` returns the URL of an article by its name.

    The episode begins with a search for the source. If a link is too far down, the episode ends with the step
    before. Returns None if nothing was clicked.
    """
    question = f"Go from {_title(game.source)} to {_title(game.target)} by links."
    await browser.reset(question, actions=_ACTIONS)
    steps: list[Step] = []
    await _do(browser, Search(_title(game.source)), steps)
    clicks = 0
    for name in game.path:
        if name == BACK:
            if not await _do(browser, Back(), steps):
                break
        elif await _click(browser, address(name), steps):
            clicks += 1
        else:
            break
    if clicks < 2:  # the first opens the source
        return None
    return Episode(
        id=uuid.uuid4().hex,
        question=question,
        policy="wikispeedia",
        steps=tuple(steps),
        quotes=(),
        ending="abandoned",
        reward=game.reward,
        about={**about, "game": game.id},
    )


async def _click(browser: Browser, url: str, steps: list[Step]) -> bool:
    """Scroll until a link to `url` is in view, and click it; undo the steps if this fails."""
    tried: list[Step] = []
    for _ in range(_MAX_SCROLLS + 1):
        state = browser.state
        number = next((number for number, link in state.links.items() if _same(link.url, url)), None)
        if number is not None:
            steps += tried
            return await _do(browser, Click(number), steps)
        scrolled = state.last < state.lines and await _do(
            browser, Scroll("down", _windows(browser, url)), tried
        )
        if not scrolled:
            break
    return False


def _windows(browser: Browser, url: str) -> int:
    """Return the number of windows (1 to 3) to scroll towards the link, by the lines in view."""
    page, state = browser.page, browser.state
    if page is None or not state.text:
        return 1
    number = next((number for number, link in enumerate(page.links) if _same(link.url, url)), None)
    place = page.text.find(f"【{number}†") if number is not None else -1
    here = page.text.find(state.text.split("\n", 1)[0])
    away = max(0, place - here) / max(1, len(state.text))
    return min(3, max(1, int(away)))


async def _do(browser: Browser, command: Command, steps: list[Step]) -> bool:
    """Give a command; return True if it was valid and the episode continues."""
    outcome = await browser.step(str(command))
    if outcome.step.kind == "invalid":
        return False
    steps.append(outcome.step)
    return outcome.ended is None


def _same(one: str, other: str) -> bool:
    return unquote(one) == unquote(other)


def _title(name: str) -> str:
    return name.replace("_", " ")


def games(rows: Sequence[Mapping[str, object]]) -> list[Game]:
    """Return the games among rows of Wikispeedia's paths that ended closer to their target."""
    found = []
    for row in rows:
        shortest, final = row["shortest_distance"], row["final_distance"]
        if isinstance(shortest, int) and isinstance(final, int) and final < shortest:
            path = row["path"]
            assert isinstance(path, list)
            found.append(
                Game(str(row["id"]), str(row["source"]), str(row["target"]), tuple(path), shortest, final)
            )
    return found
