"""Demonstrations by rejection: what found the answer has a reward; a useless quote is no step to learn."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace

import numpy as np

from citewell.browser.demonstrations.guided import Guided
from citewell.browser.demonstrations.rejection import Known, demonstrate, to_the_point
from citewell.browser.environment import Browser
from citewell.browser.episode import Episode, Step
from citewell.browser.policy import Policy
from citewell.browser.state import TakenQuote
from tests.browser.schools import School, relevance

QUESTIONS = [
    Known("who wrote the song about rain", ("Mary Jones",), {"source": "made up"}),
    Known("who wrote the song about snow", ("nobody at all",), {}),
]


async def episodes(web: School) -> list[Episode]:
    def policy(known: Known) -> Policy:
        return Guided(web, relevance, known.answers)

    found = demonstrate(QUESTIONS, lambda: Browser(web), policy, actions=12, at_once=2)
    async with aclosing(found):
        return sorted([episode async for episode in found], key=lambda episode: -(episode.reward or 0))


async def test_an_episode_is_rewarded_where_a_quote_has_an_answer() -> None:
    good, bad = await episodes(School())
    assert (good.reward, bad.reward) == (1.0, 0.0)
    assert good.about == {"source": "made up"}
    assert "Mary Jones" in good.quotes[0].text


async def test_the_guide_opens_the_page_that_has_the_answer_and_quotes_it() -> None:
    good, _ = await episodes(School())
    commands = [step.command for step in good.steps]
    assert commands[0] == "Search who wrote the song about rain"
    assert commands[1] == "Clicked on link 1"
    assert any(command.startswith("Quote: ") for command in commands)
    assert commands[-1] == "End: Answer"


def test_quotes_without_an_answer_are_no_steps_to_learn() -> None:
    quotes = (TakenQuote("t", "d", "u", "of no use"), TakenQuote("t", "d", "u", "in 1912"))
    steps = tuple(
        Step("state", command, kind)
        for command, kind in [
            ("Search when", "search"),
            ("Quote: of no use", "quote"),
            ("Quote: nowhere", "invalid"),
            ("Quote: in 1912", "quote"),
            ("End: Answer", "end"),
        ]
    )
    episode = Episode("1", "when", "test", steps, quotes, "Answer")
    kept = to_the_point(episode, ("1912",)).steps
    assert [step.command for step in kept] == [
        "Search when",
        "Quote: nowhere",
        "Quote: in 1912",
        "End: Answer",
    ]
    assert (
        to_the_point(replace(episode, quotes=quotes[::-1]), ("1912",)).steps[1].command == "Quote: of no use"
    )


def test_relevance_is_that_of_shared_words() -> None:
    assert np.argmax(relevance("the song about rain", ["snow", "a song about rain"])) == 1
