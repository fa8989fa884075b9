"""Queries: their filters, and what of them fits into a query text."""

from __future__ import annotations

import pytest

from citewell.retriever.search.query import Filter, Operators, Query, clip


@pytest.mark.parametrize(
    ("query", "language", "region", "traditional"),
    [
        (Query("q"), "", "", False),
        (Query("q", language="de"), "de", "", False),
        (Query("q", language="pt-br"), "pt", "BR", False),
        (Query("q", language="pt-BR", country="PT"), "pt", "PT", False),
        (Query("q", language="zh-Hant"), "zh", "", True),
        (Query("q", language="zh-TW"), "zh", "TW", True),
        (Query("q", language="zh-Hans-HK"), "zh", "HK", False),
        (Query("q", language="zh", country="HK"), "zh", "HK", True),
        (Query("q", language="id"), "id", "", False),
        (Query("q", country="DE"), "", "DE", False),
    ],
)
def test_language_tags(query: Query, language: str, region: str, traditional: bool) -> None:
    assert (query.primary_language, query.region) == (language, region)
    assert query.traditional_chinese is traditional


def test_filters_that_are_set() -> None:
    assert Query("q").filters == frozenset()
    query = Query("q", language="de", country="DE", recency="day", sites=("a",), exclude_sites=("b",))
    assert query.filters == frozenset(Filter)


@pytest.mark.parametrize(
    ("text", "characters", "words", "clipped"),
    [
        ("one two  three", 100, 10, "one two three"),
        ("one two three", 100, 2, "one two"),
        ("one two three", 7, 10, "one two"),
        ("one two three", 6, 10, "one"),
        ("onetwothree", 3, 10, "one"),
        ("", 5, 5, ""),
    ],
)
def test_clipping_between_words(text: str, characters: int, words: int, clipped: str) -> None:
    assert clip(text, characters, words) == clipped


def test_a_query_without_sites_is_sent_as_it_was_asked() -> None:
    assert Operators().apply(Query("why  is\nthe sky blue?")) == "why  is\nthe sky blue?"


def test_the_question_gives_way_to_the_sites_that_are_wanted() -> None:
    query = Query("word " * 100, sites=("a.org", "b.org"), exclude_sites=("c.org",))
    text = Operators(characters=60, words=50).apply(query)
    assert len(text) <= 60
    assert text.endswith("(site:a.org OR site:b.org)")
    assert text.startswith("word word ")


def test_as_many_sites_are_excluded_as_find_room() -> None:
    query = Query("short question", exclude_sites=tuple(f"site{n}.example" for n in range(100)))
    text = Operators(characters=100, words=50).apply(query)
    assert len(text) <= 100
    assert text.startswith("short question -site:site0.example -site:site1.example")
    assert text.count("-site:") == 4


def test_several_sites_need_an_or() -> None:
    operators = Operators(alternatives=False)
    one, two = Query("q", sites=("a.org",)), Query("q", sites=("a.org", "b.org"))
    assert (operators.missing(one), operators.apply(one)) == (frozenset(), "q site:a.org")
    assert (operators.missing(two), operators.apply(two)) == ({Filter.SITES}, "q")
