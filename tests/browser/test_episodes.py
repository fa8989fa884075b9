from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing

import pytest

from citewell.browser.environment import Browser
from citewell.browser.episode import Episode
from citewell.browser.episodes import Ended, Question, StepTaken, finished, run_episode, run_many
from citewell.browser.page import error_page
from citewell.browser.policy import Action
from citewell.browser.state import State
from citewell.core.errors import InputError, ServiceError
from tests.browser.pages import Shelf, article

COMMANDS = ("Search crows", "Clicked on link 0", "Nonsense", "Quote: crows are black", "End: Answer")


class Reciting:
    """Says its commands one by one, by the number of actions that are left."""

    name = "reciting"

    def __init__(self, commands: Sequence[str] = COMMANDS, most: int = 100) -> None:
        self._commands = commands
        self._most = most
        self.at_once = self.most_at_once = 0

    async def act(self, state: State) -> Action:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return Action(self._commands[self._most - state.actions_left], tokens=3)


def start() -> Browser:
    return Browser(Shelf(article("Crows are black.")))


async def test_an_episode_that_fails_or_is_canceled_is_handed_on_as_far_as_it_came() -> None:
    kept: list[Episode] = []
    with pytest.raises(IndexError):
        async for _ in run_episode(
            start(), Reciting(COMMANDS[:2]), "What are crows?", broken_off=kept.append
        ):
            pass
    events = run_episode(start(), Reciting(), "What are crows?", broken_off=kept.append)
    await anext(events)
    await events.aclose()
    assert [(len(episode.steps), episode.ending) for episode in kept] == [(2, "abandoned"), (1, "abandoned")]


@pytest.mark.parametrize("ending", ["Answer", "Nonsense"])
async def test_where_the_search_failed_and_nothing_is_quoted_the_failure_is_the_outcome(ending: str) -> None:
    kept: list[Episode] = []
    down = error_page("", "the search failed, since the engine is down.")
    browser = Browser(Shelf(article("Crows are black."), found={"crows": down}))
    commands = ["Search birds", "Search crows", f"End: {ending}"]
    with pytest.raises(ServiceError) as caught:
        async for _ in run_episode(browser, Reciting(commands), "What are crows?", broken_off=kept.append):
            pass
    assert caught.value.message == "Nothing was quoted: the search failed, since the engine is down."
    assert [(len(episode.steps), episode.ending) for episode in kept] == [(3, ending)]


async def test_a_search_that_failed_is_no_failure_of_what_was_quoted_or_searched_later() -> None:
    web = Shelf(article("Crows are black."), found={"crows": error_page("", "the search failed.")})
    found = ["Search birds", "Clicked on link 0", "Quote: Crows are black", "Search crows", "End: Answer"]
    assert (await finished(Browser(web), Reciting(found), Question("What?"))).quotes
    later = ["Search crows", "Search birds", "End: Answer"]
    assert not (await finished(Browser(web), Reciting(later), Question("What?"))).quotes


async def test_an_episode_gives_each_step_with_its_state_and_is_whole_at_the_end() -> None:
    browser = start()
    events = [
        event async for event in run_episode(browser, Reciting(), "What are crows?", about={"from": "me"})
    ]
    *acted, ended = events
    assert isinstance(ended, Ended)
    steps = [event.step for event in acted if isinstance(event, StepTaken)]
    episode = ended.episode
    assert episode.steps == tuple(steps)
    assert [step.command for step in steps] == list(COMMANDS)
    assert [step.kind for step in steps] == ["search", "click_link", "invalid", "quote", "end"]
    assert all(step.tokens == 3 and step.seconds > 0 for step in steps)
    shown = [str(event.state) for event in acted if isinstance(event, StepTaken)]
    assert [step.state for step in steps[1:]] == shown[:-1]
    assert (episode.question, episode.policy, episode.ending) == ("What are crows?", "reciting", "Answer")
    assert [quote.text for quote in episode.quotes] == ["Crows are black"]
    assert episode.about == {"from": "me"}
    assert episode.seconds >= sum(step.seconds for step in steps)


async def test_the_maximum_of_actions_may_be_the_episodes_own() -> None:
    episode = await finished(start(), Reciting(most=2), Question("What are crows?", actions=2))
    assert (len(episode.steps), episode.ending) == (2, "actions")


async def test_episodes_have_ids_of_their_own() -> None:
    browser = start()
    first, second = [await finished(browser, Reciting(), Question("What are crows?")) for _ in range(2)]
    assert first.id != second.id
    assert [step.command for step in first.steps] == [step.command for step in second.steps]


async def test_many_episodes_run_so_many_at_a_time_and_take_questions_when_there_is_room() -> None:
    taken = 0

    def questions() -> Iterator[Question]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield Question(f"What is crow {number}?")

    policy, browsers = Reciting(), []

    def begin() -> Browser:
        browsers.append(start())
        return browsers[-1]

    asked = []
    async with aclosing(run_many(questions(), begin, policy, at_once=4)) as episodes:
        async for episode in episodes:
            asked.append(episode.question)
            assert taken <= len(asked) + 8
    assert sorted(asked) == sorted(f"What is crow {number}?" for number in range(40))
    assert policy.most_at_once == len(browsers) == 4


async def test_many_episodes_end_when_one_fails_and_when_nobody_listens() -> None:
    with pytest.raises(InputError):
        async for _ in run_many([Question("What?"), Question(" ")], start, Reciting(), at_once=2):
            pass
    policy = Reciting()
    many = run_many((Question("What?") for _ in range(1000)), start, policy, at_once=3)
    await anext(many)
    await many.aclose()
    assert len(asyncio.all_tasks()) == 1
