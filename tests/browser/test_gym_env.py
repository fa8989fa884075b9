from __future__ import annotations

import asyncio
import functools
import warnings
from typing import Any

import pytest

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import Question
from citewell.browser.limits import BrowserLimits
from tests.browser.pages import Shelf, article

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from citewell.browser.gym_env import BrowserEnv, Range  # noqa: E402
from citewell.core.errors import InputError  # noqa: E402

NAME = "citewell.browser.gym_env:citewell/Browser-v0"
QUESTIONS = tuple(Question(f"What are crows, number {number}?", "black", 8) for number in range(20))
COMMANDS = ["Search crows", "Clicked on link 0", "Quote: crows are black ❤", "End: Answer"]


def start() -> Browser:
    return Browser(Shelf(article("Crows are black ❤.")), BrowserLimits(state_tokens=640))


def answered(episode: Episode) -> float:
    return sum("black" in quote.text for quote in episode.quotes) / len(episode.steps)


@pytest.fixture
def env() -> Any:
    return functools.partial(gymnasium.make, NAME, start=start, questions=QUESTIONS, reward=answered)


def test_it_passes_the_checks_of_gymnasium(env: Any) -> None:
    made = env()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(made.unwrapped)
    made.close()


def test_an_episode_is_rewarded_at_its_end_and_tells_its_citations(env: Any) -> None:
    made = env(render_mode="ansi")
    first, _ = made.reset(seed=1)
    assert first.startswith("♦Question\nWhat are crows, number ")
    rewards, ends = [], []
    for command in COMMANDS:
        observation, reward, terminated, truncated, info = made.step(command)
        rewards.append(reward)
        ends.append((terminated, truncated))
        assert info["valid"], info["reason"]
        assert made.render() == observation
    assert rewards == [0.0, 0.0, 0.0, 0.25]
    assert ends == [(False, False)] * 3 + [(True, False)]
    assert [quote["text"] for quote in info["quotes"]] == ["Crows are black ❤"]
    assert info["ending"] == "Answer"
    assert [step.command for step in info["episode"].steps] == COMMANDS
    made.close()


def test_an_invalid_action_tells_its_reason(env: Any) -> None:
    made = env()
    made.reset(seed=1)
    *_, info = made.step("Clicked on link 7")
    assert (info["valid"], info["reason"]) == (False, "no page is open")
    made.close()


def test_questions_are_drawn_by_the_seed_or_given(env: Any) -> None:
    made = env()
    drawn = [made.reset(seed=seed)[0] for seed in (1, 2, 3, 1)]
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) > 1
    given, _ = made.reset(options={"question": Question("And rooks?")})
    assert given.startswith("♦Question\nAnd rooks?\n")
    made.close()


def test_the_maximum_of_actions_is_drawn_and_ends_the_episode(env: Any) -> None:
    made = env(actions=Range(2, 4))
    lengths = set()
    for seed in range(20):
        made.reset(seed=seed)
        steps = 1
        while not made.step("Nonsense")[2]:
            steps += 1
        lengths.add(steps)
    assert lengths == {2, 3, 4}
    made.close()


def test_many_browse_at_a_time() -> None:
    made = gymnasium.make_vec(
        NAME,
        num_envs=3,
        vectorization_mode="sync",
        start=start,
        questions=QUESTIONS,
        reward=answered,
    )
    states, _ = made.reset(seed=1)
    assert len(states) == 3
    assert len(set(states)) > 1
    for command in COMMANDS:
        states, rewards, terminated, _, infos = made.step([command, command, "Top"])
    assert rewards.tolist() == [0.25, 0.25, 0.0]
    assert terminated.tolist() == [True, True, False]
    assert infos["ending"].tolist() == ["Answer", "Answer", None]
    made.close()


def test_a_web_that_belongs_to_an_event_loop_is_browsed_in_it() -> None:
    class Owned(Shelf):
        async def search(self, query: str) -> Any:
            assert asyncio.get_running_loop() is runner.get_loop()
            return await super().search(query)

    with asyncio.Runner() as runner:
        env = BrowserEnv(lambda: Browser(Owned(article("Crows."))), QUESTIONS, answered, runner=runner)
        env.reset(seed=1)
        assert "♦Title\nSearch results for: crows" in env.step("Search crows")[0]
        env.close()
        assert not runner.get_loop().is_closed()


def test_without_questions_there_is_nothing_to_browse_for() -> None:
    with pytest.raises(InputError, match="no question"):
        BrowserEnv(start, [], answered)
