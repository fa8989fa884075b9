"""Games of Wikispeedia become episodes of the text browser."""

from __future__ import annotations

from citewell.browser.demonstrations.wikispeedia import Game, games, replay
from citewell.browser.environment import Browser
from tests.browser.schools import School, address


def row(**changes: object) -> dict[str, object]:
    return {
        "id": "g1",
        "source": "Snow",
        "target": "Water_cycle",
        "path": ["Snow", "Rain"],
        "shortest_distance": 2,
        "final_distance": 1,
    } | changes


def test_only_games_that_got_nearer_count() -> None:
    rows = [row(), row(final_distance=2), row(final_distance=3), row(shortest_distance=None)]
    (game,) = games(rows)
    assert game == Game("g1", "Snow", "Water_cycle", ("Snow", "Rain"), 2, 1)
    assert game.reward == 0.5


async def test_a_game_is_a_search_and_then_clicks() -> None:
    game = Game("g1", "Snow", "Water_cycle", ("Snow", "Rain", "<", "Rain"), 2, 1)
    episode = await replay(game, Browser(School()), address, {"source": "test"})
    assert episode is not None
    assert [step.command for step in episode.steps] == [
        "Search Snow",
        "Clicked on link 2",
        "Clicked on link 0",
        "Back",
        "Clicked on link 0",
    ]
    assert episode.question == "Go from Snow to Water cycle by links."
    assert (episode.ending, episode.reward) == ("abandoned", 0.5)
    assert episode.about == {"source": "test", "game": "g1"}


async def test_a_game_ends_where_a_link_is_missing() -> None:
    game = Game("g2", "Snow", "Songs", ("Snow", "Rain", "Songs"), 2, 1)
    episode = await replay(game, Browser(School()), address, {})
    assert episode is not None
    assert [step.kind for step in episode.steps] == ["search", "click_link", "click_link"]


async def test_a_game_without_a_click_is_none() -> None:
    game = Game("g3", "Snow", "Songs", ("Snow", "Songs"), 2, 1)
    assert await replay(game, Browser(School()), address, {}) is None
