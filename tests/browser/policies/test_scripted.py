"""What the script does in a state; relevance is the share of the question's words here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.browser.policies.scripted import Script, Scripted
from citewell.browser.state import State
from citewell.core.text import content_words, words

from .states import page, quote, results


def relevance(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    wanted = set(content_words(question))
    return np.array([len(wanted & set(words(text))) / len(wanted) for text in texts], dtype=np.float32)


async def command(state: State) -> str:
    return (await Scripted(relevance, Script(quoted=0.9)).act(state)).text


async def test_it_searches_for_the_question_first() -> None:
    state = State(question="When do spring tides happen?", actions_left=10)
    assert await command(state) == "Search When do spring tides happen?"


async def test_it_opens_the_most_relevant_result() -> None:
    assert await command(results()) == "Clicked on link 1"


async def test_it_opens_no_result_twice() -> None:
    visited = frozenset({"https://sea.example/tides"})
    assert await command(results(visited=visited)) == "Clicked on link 0"


async def test_with_a_quote_it_opens_only_what_is_promising() -> None:
    past = (*results().past_actions, "Click Tides sea.example", "Quote", "Back")
    said = quote("Spring tides happen twice a month.")
    visited = frozenset({"https://sea.example/tides"})
    state = results(past_actions=past, visited=visited, quotes=(said,))
    assert await command(state) == "End: Answer"


async def test_it_names_no_passage_by_the_ends_of_one_that_it_quoted() -> None:
    hours = "The spring tides happen {} every single month here at the main gate."
    text = "\n\n".join(hours.format(when) for when in ("from nine", "until ten"))
    named = "Quote: The spring tides happen━at the main gate."
    assert await command(page(text=text)) == named
    assert await command(page(text=text, quotes=(quote(hours.format("from nine")),))) != named


async def test_it_quotes_the_most_relevant_passage() -> None:
    text = (
        "The Moon pulls the water of the whole sea.\n\n"
        "Spring tides happen twice in every single month.\n\nBread is baked of flour and of water."
    )
    assert await command(page(text=text)) == "Quote: Spring tides happen twice in every single month."


async def test_it_scrolls_while_there_is_nothing_to_quote() -> None:
    state = page(text="Bread is baked of flour.", last=5, lines=50)
    assert await command(state) == "Scrolled down 1"


async def test_it_looks_for_the_longest_word_that_the_title_does_not_have() -> None:
    state = page(text="Bread is baked of flour.")
    assert await command(state) == "Find in page: spring"


async def test_it_goes_back_from_a_page_that_has_nothing() -> None:
    past = (*page().past_actions, *(f"Find in page: {word}" for word in ("spring", "happen")))
    assert await command(page(text="Bread is baked of flour.", past_actions=past)) == "Back"


async def test_it_answers_when_it_has_enough() -> None:
    quotes = tuple(quote(f"Quote {number}.") for number in range(Script().enough))
    assert await command(page(quotes=quotes)) == "End: Answer"


async def test_it_answers_with_its_last_action() -> None:
    assert await command(page(quotes=(quote("One."),), actions_left=1)) == "End: Answer"


async def test_without_results_it_searches_for_what_the_question_is_about_and_then_ends() -> None:
    nothing = {"text": "Nothing was found.", "links": {}}
    assert await command(results(**nothing)) == "Search spring tides happen"
    past = (*results().past_actions, "Search spring tides happen")
    assert await command(results(past_actions=past, **nothing)) == "End: Answer"
