"""WebGPT's appendix A about pages of results and about censoring: one case a rule."""

from __future__ import annotations

import pytest

from citewell.browser.censor import gives_away
from citewell.browser.page import TextPage, text_page
from citewell.browser.results import results_page
from citewell.core.types import Hit

CROWS = Hit("https://crows.example/gifts", "Gifts from crows", "They bring shiny things.")
ROOKS = Hit("https://www.rooks.example/", "Rooks", "Rooks live in colonies.")

RESULTS = {
    "Results: a link with its domain, and the snippet below": (
        [CROWS],
        "【0†Gifts from crows†crows.example】\nThey bring shiny things.",
    ),
    "Results: the links are numbered from 0 in the order of the hits": (
        [CROWS, ROOKS],
        "【0†Gifts from crows†crows.example】\nThey bring shiny things.\n"
        "【1†Rooks†www.rooks.example】\nRooks live in colonies.",
    ),
    "Results: hits of reddit.com and quora.com are removed, without a gap in the ids": (
        [
            Hit("https://www.reddit.com/r/crows", "Crows"),
            CROWS,
            Hit("https://quora.com/crows", "Why?"),
            Hit("https://old.reddit.com/", "Old"),
            ROOKS,
        ],
        "【0†Gifts from crows†crows.example】\nThey bring shiny things.\n"
        "【1†Rooks†www.rooks.example】\nRooks live in colonies.",
    ),
    "Results: a hit without a snippet is a link alone": (
        [Hit("https://crows.example/", "Crows", " ")],
        "【0†Crows†crows.example】",
    ),
    "Results: a hit without a title is shown by its address": (
        [Hit("https://crows.example/a", "")],
        "【0†https://crows.example/a†crows.example】",
    ),
    "Results: titles and snippets are on one line": (
        [Hit("https://crows.example/", "Crows\n and rooks", "They\nfly.")],
        "【0†Crows and rooks†crows.example】\nThey fly.",
    ),
    "Results: without a hit, the page says so": ([], "Nothing was found."),
}


@pytest.mark.parametrize(("hits", "text"), RESULTS.values(), ids=[f"A: {rule}" for rule in RESULTS])
def test_results(hits: list[Hit], text: str) -> None:
    page = results_page("crow gifts", hits)
    assert page.text == text
    assert page.kind == "results"
    assert page.text.count("【") == len(page.links)


def test_the_title_is_the_query() -> None:
    assert results_page("how to train crows", [CROWS]).title == "Search results for: how to train crows"


def test_links_lead_to_the_hits() -> None:
    assert [link.url for link in results_page("q", [CROWS, ROOKS]).links] == [CROWS.url, ROOKS.url]


def test_other_domains_can_be_denied() -> None:
    page = results_page("q", [CROWS, ROOKS, Hit("https://reddit.com/", "R")], denied=("rooks.example",))
    assert [link.text for link in page.links] == ["Gifts from crows", "R"]


QUESTION = "How can I train the crows in my neighborhood to bring me gifts?"
ANSWER = "Put out food at the same time each day and wait."
CENSORED = {
    "Censor: ten words in a row of the question": (
        "He asked: train the crows in my neighborhood to bring me gifts, please.",
        True,
    ),
    "Censor: nine words in a row are allowed": (
        "He trained the crows in my neighborhood to bring me gifts",
        False,
    ),
    "Censor: ten words of the question that are not in a row are allowed": (
        "I can train crows, and the crows in my own neighborhood want to bring me some gifts. How?",
        False,
    ),
    "Censor: ten words in a row of the answer": (
        "Put out food at the same time each day, and wait.",
        True,
    ),
    "Censor: case and punctuation do not count": (
        "TRAIN the crows (in my neighborhood) to bring me: gifts",
        True,
    ),
    "Censor: line breaks do not count": ("train the crows in\nmy neighborhood\n\nto bring me gifts", True),
    "Censor: links do not count": (
        "train the 【0†crows in my†other.example】 neighborhood to 【1†bring】 me gifts",
        True,
    ),
    "Censor: ids and domains of links are no words": (
        "train the crows in my 【0†neighborhood†to.bring】 me gifts",
        False,
    ),
    "Censor: another page is allowed": ("Crows are black birds, and many of them live in towns.", False),
}


@pytest.mark.parametrize(("text", "censored"), CENSORED.values(), ids=[f"A: {rule}" for rule in CENSORED])
def test_censor(text: str, censored: bool) -> None:
    assert gives_away(_page(text), QUESTION, ANSWER) is censored


def test_a_title_gives_a_question_away() -> None:
    page = text_page("https://forum.example/1", QUESTION, "Any ideas?")
    assert gives_away(page, QUESTION)


def test_no_page_overlaps_with_a_short_question() -> None:
    assert not gives_away(_page("Why are crows black? Crows are black."), "Why are crows black?", "They are.")


def _page(text: str) -> TextPage:
    return text_page("https://birds.example/", "Crows", text)
