"""WebGPT's Table 1 and §2 (https://arxiv.org/abs/2112.09332): one case a rule about commands and episodes.

Every case begins on a page of results for `crows`, with the commands of the case to come. Its link 0 leads to
a long page about crows, link 1 to a page about rooks, link 2 to one that cannot be opened. An `Expected` says
what has to hold after the last command; what it leaves out, no case depends on.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from citewell.browser.environment import Browser
from citewell.browser.limits import BrowserLimits
from citewell.browser.page import Link
from tests.browser.pages import Shelf, article, results

RESULTS = "Search results for: crows"
CROWS = "Crows (birds.example)"
ROOKS = "Rooks (rooks.example)"

ROOK_LINK = Link("the rook", "https://rooks.example/rooks", "rooks.example")
NEST_LINK = Link("their nests", "https://birds.example/nests", "birds.example")
CROW_LINES = [
    "Crows are black birds.",
    "Akin to {0}, with {1}.",
    *(f"Fact {number} about crows." for number in range(1, 99)),
]


@dataclass(frozen=True)
class Expected:
    """What holds after the last command; None where the case says nothing of it."""

    title: str | None = None
    reason: str | None = ""
    kind: str | None = None
    first: int | None = None
    last: int | None = None
    quotes: tuple[str, ...] | None = None
    past: tuple[str, ...] | None = None
    left: int | None = None
    ended: str | None = None
    searched: tuple[str, ...] | None = None
    opened: tuple[str, ...] | None = None


OPEN = "Clicked on link 0"
NOT_ONE = "it is not one of the commands"
NUMBER = "a number has to follow the command"
TIMES = "the browser scrolls 1, 2 or 3 times"
NOTHING = "nothing follows the command"
NO_TEXT = "the text is not on the page"
SAME = (OPEN,)

CASES: dict[str, tuple[tuple[str, ...], Expected]] = {
    "Search: the query is sent as it is": (
        ("Search Why are crows black?",),
        Expected("Search results for: Why are crows black?", searched=("crows", "Why are crows black?")),
    ),
    "Search: a page of results is displayed": (("Search crows",), Expected(RESULTS, kind="search", first=0)),
    "Search: from a page that is open, too": ((OPEN, "Search rooks"), Expected("Search results for: rooks")),
    "Search: without a query it is invalid": (("Search",), Expected(RESULTS, NOT_ONE, kind="invalid")),
    "Search: with a query of white space it is invalid": (("Search   ",), Expected(RESULTS, NOT_ONE)),
    "Search: white space around the command does not count": (
        ("\n Search rooks \n",),
        Expected("Search results for: rooks", searched=("crows", "rooks")),
    ),
    "Clicked on link: the link is followed to a new page": (
        (OPEN,),
        Expected(CROWS, kind="click_link", first=0, opened=("https://birds.example/crows",)),
    ),
    "Clicked on link: a link of a page, to another site": (
        (OPEN, "Clicked on link 0"),
        Expected(ROOKS, opened=("https://birds.example/crows", "https://rooks.example/rooks")),
    ),
    "Clicked on link: the id may be of a link that is not in view": (
        (OPEN, "Scrolled down 3", "Clicked on link 0"),
        Expected(ROOKS),
    ),
    "Clicked on link: an id that is not on the page is invalid": (
        ("Clicked on link 3",),
        Expected(RESULTS, "there is no link 3 on the page", kind="invalid", opened=()),
    ),
    "Clicked on link: an id of a page that is left is invalid": (
        (OPEN, "Clicked on link 2"),
        Expected(CROWS, "there is no link 2 on the page", opened=("https://birds.example/crows",)),
    ),
    "Clicked on link: an id below nought is invalid": (
        ("Clicked on link -1",),
        Expected(RESULTS, NUMBER, opened=()),
    ),
    "Clicked on link: the id is a number": (("Clicked on link first",), Expected(RESULTS, NUMBER)),
    "Clicked on link: digits of other scripts are no number": (
        ("Clicked on link ٠",),
        Expected(RESULTS, NUMBER),
    ),
    "Clicked on link: without an id it is invalid": (("Clicked on link",), Expected(RESULTS, NOT_ONE)),
    "Clicked on link: a page that cannot be opened is an error page": (
        ("Clicked on link 2",),
        Expected("Error", kind="click_link", opened=("https://lost.example/",)),
    ),
    "Find in page: the page scrolls to the text": (
        (OPEN, "Find in page: Fact 50 about"),
        Expected(CROWS, kind="find_in_page", first=49),
    ),
    "Find in page: the next occurrence is found, not the same again": (
        (OPEN, "Find in page: Fact 5", "Find in page: Fact 5"),
        Expected(first=49),
    ),
    "Find in page: what is above is found when nothing is below": (
        (OPEN, "Find in page: Fact 80", "Find in page: Fact 30 "),
        Expected(first=29),
    ),
    "Find in page: case is ignored": ((OPEN, "Find in page: FACT 50 ABOUT"), Expected(first=49)),
    "Find in page: links are stripped": ((OPEN, "Find in page: akin to the rook, with"), Expected(first=0)),
    "Find in page: nothing moves where the text is not there": (
        (OPEN, "Scrolled down 1", "Find in page: penguins"),
        Expected(CROWS, kind="find_in_page", first=19),
    ),
    "Find in page: that a text was looked for is remembered": (
        (OPEN, "Find in page: penguins"),
        Expected(past=("Search crows", "Click Crows birds.example", "Find in page: penguins")),
    ),
    "Find in page: without a text it is invalid": ((OPEN, "Find in page: "), Expected(CROWS, NOT_ONE)),
    "Find in page: works on results": (("Find in page: rooks",), Expected(RESULTS)),
    "Quote: a text of the page is added as a reference": (
        (OPEN, "Quote: Crows are black birds."),
        Expected(CROWS, kind="quote", quotes=("Crows are black birds.",)),
    ),
    "Quote: the page's own words are taken": (
        (OPEN, "Quote: CROWS ARE BLACK"),
        Expected(quotes=("Crows are black",)),
    ),
    "Quote: the page stays where it is": (
        (OPEN, "Scrolled down 1", "Quote: Fact 90 about crows."),
        Expected(CROWS, first=19, quotes=("Fact 90 about crows.",)),
    ),
    "Quote: quotes add up in their order": (
        (OPEN, "Quote: Fact 9 about crows.", "Quote: Fact 2 about crows."),
        Expected(quotes=("Fact 9 about crows.", "Fact 2 about crows.")),
    ),
    "Quote: a text that is not found is not added": (
        (OPEN, "Quote: Crows are white birds."),
        Expected(CROWS, NO_TEXT, kind="invalid", quotes=()),
    ),
    "Quote: a text of a page that is left is not found": (
        (OPEN, "Clicked on link 0", "Quote: Crows are black birds."),
        Expected(ROOKS, NO_TEXT, quotes=()),
    ),
    "Quote: results are no reference": (
        ("Quote: Fact 1",),
        Expected(RESULTS, "only pages of the web can be quoted", quotes=()),
    ),
    "Quote: an error is no reference": (
        ("Clicked on link 2", "Quote: cannot be opened"),
        Expected(None, "only pages of the web can be quoted", quotes=()),
    ),
    "Quote: the same reference is not added twice": (
        (OPEN, "Quote: Crows are black", "Quote: crows are BLACK"),
        Expected(None, "the text is quoted already", quotes=("Crows are black",)),
    ),
    "Quote: without a text it is invalid": ((OPEN, "Quote:"), Expected(CROWS, NOT_ONE, quotes=())),
    "Scrolled down 1: one screen less a line": (
        (OPEN, "Scrolled down 1"),
        Expected(CROWS, kind="scroll_down", first=19, last=39),
    ),
    "Scrolled down 2: twice": ((OPEN, "Scrolled down 2"), Expected(first=38, last=58)),
    "Scrolled down 3: three times": ((OPEN, "Scrolled down 3"), Expected(first=57, last=77)),
    "Scrolled down: the end of the page stays in view": (
        (OPEN, "Scrolled down 3", "Scrolled down 3"),
        Expected(first=80, last=100),
    ),
    "Scrolled down: at the end of the page nothing moves": (
        (OPEN, "Scrolled down 3", "Scrolled down 3", "Scrolled down 1"),
        Expected(first=80, last=100),
    ),
    "Scrolled down 4 is invalid": ((OPEN, "Scrolled down 4"), Expected(CROWS, TIMES, first=0)),
    "Scrolled down 0 is invalid": ((OPEN, "Scrolled down 0"), Expected(CROWS, TIMES, first=0)),
    "Scrolled down without a number is invalid": ((OPEN, "Scrolled down"), Expected(CROWS, NOT_ONE, first=0)),
    "Scrolled up 1: one screen less a line": (
        (OPEN, "Scrolled down 3", "Scrolled up 1"),
        Expected(CROWS, kind="scroll_up", first=38),
    ),
    "Scrolled up 3: three times": ((OPEN, "Scrolled down 3", "Scrolled up 3"), Expected(first=0)),
    "Scrolled up: the page ends at its top": ((OPEN, "Scrolled up 2"), Expected(first=0, last=20)),
    "Scrolled up 4 is invalid": ((OPEN, "Scrolled down 3", "Scrolled up 4"), Expected(None, TIMES, first=57)),
    "Top: the page scrolls to its top": (
        (OPEN, "Scrolled down 3", "Top"),
        Expected(CROWS, kind="top", first=0, last=20),
    ),
    "Top 1 is invalid": (
        (OPEN, "Scrolled down 3", "Top 1"),
        Expected(None, NOT_ONE, first=57),
    ),
    "Back: the previous page is shown": ((OPEN, "Back"), Expected(RESULTS, kind="back")),
    "Back: and the one before that": (
        (OPEN, "Clicked on link 0", "Back", "Back"),
        Expected(RESULTS),
    ),
    "Back: a search is left for the page before it": ((OPEN, "Search rooks", "Back"), Expected(CROWS)),
    "Back: from an error page": (("Clicked on link 2", "Back"), Expected(RESULTS)),
    "Back: the page is where it was left": (
        (OPEN, "Scrolled down 2", "Clicked on link 0", "Back"),
        Expected(CROWS, first=38),
    ),
    "Back: nothing is opened again": ((OPEN, "Back"), Expected(opened=("https://birds.example/crows",))),
    "Back: without a previous page it is invalid": (
        ("Back",),
        Expected(RESULTS, "there is no page to go back to", kind="invalid"),
    ),
    "End: Answer ends browsing": (("End: Answer",), Expected(kind="end", ended="Answer")),
    "End: Nonsense ends browsing": (("End: Nonsense",), Expected(kind="end", ended="Nonsense")),
    "End: Controversial ends it": (
        ("End: Controversial",),
        Expected(kind="end", ended="Controversial"),
    ),
    "End: any other word is invalid": (("End: Done",), Expected(RESULTS, NOT_ONE)),
    "End without a word is invalid": (("End",), Expected(RESULTS, NOT_ONE)),
    "Any other text is invalid": (("Please open link 0",), Expected(RESULTS, NOT_ONE, opened=())),
    "Nothing at all is invalid": (("",), Expected(RESULTS, NOT_ONE)),
    "Another case is invalid": (
        ("search crows",),
        Expected(RESULTS, NOT_ONE, searched=("crows",)),
    ),
    "Two commands are not two": (
        ("Top\nBack",),
        Expected(RESULTS, NOT_ONE),
    ),
    "A command after other text is invalid": (("Now: Search crows",), Expected(RESULTS, NOT_ONE)),
    "Invalid actions count towards the maximum": (("Nonsense",), Expected(None, None, left=98)),
    "Invalid actions are otherwise ignored": (
        (OPEN, "Scrolled down 1", "Nonsense"),
        Expected(
            CROWS, None, first=19, past=("Search crows", "Click Crows birds.example", "Scrolled down 1")
        ),
    ),
    "Valid actions count towards the maximum": ((OPEN,), Expected(left=98)),
    "§2: browsing ends at the maximum of actions": (("Top",) * 99, Expected(left=0, ended="actions")),
    "§2: an invalid last action ends it as well": (
        ("Nonsense",) * 99,
        Expected(None, None, left=0, ended="actions"),
    ),
    "§2: an end as the last action is that end": (
        (*("Top",) * 98, "End: Answer"),
        Expected(left=0, ended="Answer"),
    ),
    "§2: browsing ends when the quotes reach their maximum": (
        (OPEN, *(f"Quote: Fact {number} about crows." for number in range(10, 20))),
        Expected(quotes=tuple(f"Fact {number} about crows." for number in range(10, 20)), ended="quotes"),
    ),
    "§2: the title, the domain and the extract are recorded": (
        (OPEN, "Clicked on link 0", "Quote: Rooks are black, too."),
        Expected(quotes=("Rooks are black, too.",)),
    ),
}


def shelf() -> Shelf:
    crows = article("\n".join(CROW_LINES), "Crows", "birds.example", "crows", ROOK_LINK, NEST_LINK)
    rooks = article("Rooks are black, too.", "Rooks", "rooks.example", "rooks")
    lost = article("", "Lost", "lost.example", "")
    web = Shelf(crows, rooks)
    for query in ("crows", "rooks", "Why are crows black?"):
        hits = ((crows, "Fact 1 and more."), (rooks, "About rooks."), (lost, "Nothing."))
        web.found[query] = results(query, *hits)
    return web


@pytest.mark.parametrize(("commands", "expected"), CASES.values(), ids=CASES.keys())
async def test_rule(commands: tuple[str, ...], expected: Expected) -> None:
    web = shelf()
    browser = Browser(web, BrowserLimits(quote_chars=200))
    await browser.reset("Why are crows black?")
    outcome = await browser.step("Search crows")
    for command in commands:
        assert outcome.ended is None
        outcome = await browser.step(command)
    state = outcome.state
    found = Expected(
        state.title,
        outcome.step.reason or "",
        outcome.step.kind,
        state.first,
        state.last,
        tuple(quote.text for quote in browser.quotes),
        state.past_actions,
        state.actions_left,
        outcome.ended,
        tuple(web.searched),
        tuple(web.opened),
    )
    for name in Expected.__dataclass_fields__:
        if (wanted := getattr(expected, name)) is not None:
            assert getattr(found, name) == wanted, name
    assert outcome.ended == expected.ended


async def test_a_reference_has_the_title_and_the_domain_of_its_page() -> None:
    browser = Browser(shelf())
    await browser.reset("Why are crows black?")
    for command in ("Search crows", "Clicked on link 1", "Quote: Rooks are black, too."):
        await browser.step(command)
    (quote,) = browser.quotes
    assert (quote.title, quote.domain, quote.url) == ("Rooks", "rooks.example", "https://rooks.example/rooks")
    assert "♦Quotes\nFrom Rooks (rooks.example)\n> Rooks are black, too.\n" in str(browser.state)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("Back", "there is no page to go back to"),
        ("Top", "no page is open"),
        ("Scrolled down 1", "no page is open"),
        ("Clicked on link 0", "no page is open"),
        ("Find in page: crows", "no page is open"),
        ("Quote: crows", "no page is open"),
    ],
)
async def test_before_the_first_search_there_is_no_page(command: str, reason: str) -> None:
    browser = Browser(shelf())
    await browser.reset("Why are crows black?")
    assert (await browser.step(command)).step.reason == reason
    assert browser.state.title == ""


async def test_the_first_page_has_none_to_go_back_to() -> None:
    browser = Browser(shelf())
    await browser.reset("Why are crows black?")
    outcome = await browser.step("Search crows")
    assert not outcome.state.can_go_back
    assert (await browser.step("Clicked on link 0")).state.can_go_back
