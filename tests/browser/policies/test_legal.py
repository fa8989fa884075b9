"""What a state allows, and what leads on."""

from __future__ import annotations

import pytest

from citewell.browser.environment import Browser
from citewell.browser.limits import BrowserLimits
from citewell.browser.page import Link
from citewell.browser.policies.legal import is_new_search, legal, onwards
from tests.browser.pages import Shelf, article

from .states import page, quote, results


def joined(runs: tuple[tuple[str, ...], ...]) -> list[str]:
    return [" ".join(run) for run in runs]


def test_a_page_allows_its_links_and_the_words_in_view_without_marks() -> None:
    allowed = legal(page())
    assert allowed.links == (0, 1)
    first, last = joined(allowed.quotable)
    assert first.startswith("The tides of the sea")
    assert first.endswith("when the Sun, the Moon and the Earth are in one line.")
    assert last == "See also Neap tide."


def test_before_the_first_search_there_is_only_searching_and_ending() -> None:
    allowed = legal(page(title="", url="", text="", links={}, last=0, lines=0, can_go_back=False))
    assert not any(
        (
            allowed.links,
            allowed.find,
            allowed.quotable,
            allowed.down,
            allowed.up,
            allowed.back,
            allowed.answer,
        )
    )
    assert allowed.search


def test_results_cannot_be_quoted() -> None:
    assert legal(results()).quotable == ()


@pytest.mark.parametrize(("first", "last", "down", "up"), [(0, 20, True, False), (20, 40, False, True)])
def test_scrolling_is_allowed_where_it_moves(first: int, last: int, down: bool, up: bool) -> None:
    allowed = legal(page(first=first, last=last, lines=40))
    assert (allowed.down, allowed.up) == (down, up)


def test_an_answer_needs_a_quote() -> None:
    assert not legal(page()).answer
    assert legal(page(quotes=(quote("Its gravity pulls"),))).answer


def test_a_link_to_a_page_that_was_opened_does_not_lead_on() -> None:
    assert onwards(results(visited=frozenset({"https://sea.example/tides"}))).links == (0,)


async def test_two_results_with_the_same_title_can_both_be_opened() -> None:
    pages = [article("Crows are black.", path=path) for path in ("one", "two")]
    browser = Browser(Shelf(*pages))
    await browser.reset("What are crows?")
    opened = []
    await browser.step("Search crows")
    while links := onwards(browser.state).links:
        opened.append((await browser.step(f"Clicked on link {links[-1]}")).step.url)
        await browser.step("Back")
    assert opened == [page.url for page in reversed(pages)]


def test_a_link_to_the_page_itself_does_not_lead_on() -> None:
    links = {4: Link("Up", "https://sea.example/tides", "sea.example")}
    assert onwards(page(links=links)).links == ()


def test_what_was_quoted_does_not_lead_on() -> None:
    taken = quote("Its gravity pulls the water towards it.")
    (before, after, also) = joined(onwards(page(quotes=(taken,))).quotable)
    assert before == "The tides of the sea are caused by the Moon."
    assert after.startswith("Spring tides happen")
    assert also == "See also Neap tide."


def test_what_a_page_says_twice_is_quoted_once() -> None:
    said = "Its gravity pulls the water towards it."
    state = page(text=f"{said}\n{said}\nAnd then it lets it go.", taken=(said,))
    assert joined(onwards(state).quotable) == ["And then it lets it go."]


async def test_a_quote_that_the_state_has_no_room_for_is_known_again() -> None:
    said = "Crows are clever birds that have black feathers, and they bring gifts to some people."
    more = " ".join(f"Rook number {number} flies over the old town every evening." for number in range(40))
    browser = Browser(Shelf(article(f"{said} {more}")), BrowserLimits(state_tokens=256))
    await browser.reset("What are crows?")
    for command in ("Search crows", "Clicked on link 0", f"Quote: {said}", f"Quote: {more[:700]}"):
        assert not (await browser.step(command)).step.reason
    assert [quote.text for quote in browser.state.quotes] != [quote.text for quote in browser.quotes]
    allowed = onwards(browser.state)
    assert not any("gifts" in run for run in joined(allowed.quotable))
    assert (allowed.answer, allowed.give_up) == (True, False)


def test_a_word_is_looked_for_once_a_page() -> None:
    past = (*page().past_actions, "Find in page: spring")
    assert onwards(page(past_actions=past)).find == ("tides", "happen")
    elsewhere = (*past, "Back", "Click Moon moon.example")
    assert "spring" in onwards(page(past_actions=elsewhere)).find


def test_scrolling_does_not_go_back_and_forth() -> None:
    middle = {"first": 20, "last": 40, "lines": 60}
    past = page().past_actions
    assert not onwards(page(past_actions=(*past, "Scrolled down 1"), **middle)).up
    assert not onwards(page(past_actions=(*past, "Scrolled up 1"), **middle)).down
    assert onwards(page(past_actions=(*past, "Scrolled down 1", "Quote"), **middle)).up


def test_the_words_of_a_shortened_link_are_no_words_of_the_page() -> None:
    state = page(text="Read all of 【0†a very long name of…】 on the next page of this.")
    assert joined(legal(state).quotable) == ["Read all of", "on the next page of this."]


def test_a_search_is_new_where_more_than_case_and_space_differ() -> None:
    state = results()
    assert not is_new_search(state, "when do  spring tides happen?")
    assert is_new_search(state, "spring tides")
