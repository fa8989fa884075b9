"""JSON becomes lines that a person can read, under the keys that lead there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.page import extract

SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."


def read(value: Any, content_type: str = "application/json") -> Page:
    return extract(json.dumps(value).encode(), "https://api.example/kites", content_type)


def texts(page: Page) -> list[tuple[tuple[str, ...], str]]:
    return [(passage.headings, passage.text) for passage in page.passages]


def test_values_are_lines_and_objects_of_an_array_are_rows() -> None:
    page = read(
        {
            "title": "Kites",
            "found": 2,
            "complete": True,
            "next": None,
            "results": [
                {"name": "box kite", "year": 1893, "about": {"maker": "Lawrence Hargrave"}},
                {"name": "parafoil", "year": 1964},
            ],
            "tags": ["wind", "sky"],
        }
    )
    assert page.title == "Kites"
    assert texts(page) == [
        ((), "title: Kites\nfound: 2\ncomplete: true\nresults\nname: box kite | year: 1893"),
        ((), "results\nabout\nmaker: Lawrence Hargrave\nname: parafoil | year: 1964\ntags\nwind, sky"),
    ]


def test_long_texts_stand_alone_and_without_markup() -> None:
    rendered = f"<p>{SENTENCE} {SENTENCE}</p>\n<p>Tea &amp; cake. {SENTENCE}</p>"
    page = read({"title": {"rendered": "Kites &amp; wind</b>"}, "content": {"rendered": rendered}})
    assert page.title == "Kites & wind"
    assert texts(page)[-1][1].endswith(f"\n{SENTENCE} {SENTENCE}\nTea & cake. {SENTENCE}")


@pytest.mark.parametrize("content_type", ["application/ld+json", "application/json; charset=utf-8"])
def test_the_article_of_json_ld_is_the_text(content_type: str) -> None:
    article = {"@type": "NewsArticle", "headline": "Kites", "articleBody": f"{SENTENCE}\n\nMore. {SENTENCE}"}
    value = {"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "name": "A site"}, article]}
    page = read(value, content_type)
    assert page.title == "Kites"
    assert texts(page) == [((), f"{SENTENCE}\nMore. {SENTENCE}")]


def test_json_is_known_by_its_type_or_its_name() -> None:
    body = b'{"wind": "steady"}'
    assert extract(body, "https://a.example/x", "application/vnd.api+json").passages[0].text == "wind: steady"
    assert extract(body, "data/wind.json").passages[0].text == "wind: steady"
    web_page = b"<!doctype html><html><body><p>" + SENTENCE.encode() + b"</p></body></html>"
    assert extract(web_page, "https://a.example/x", "application/json").passages[0].text == SENTENCE


@pytest.mark.parametrize("body", [b"{", b"{} {}", b"nothing", b"[" * 200_000, b'{"a":' * 50_000])
def test_what_is_no_json_says_why(body: bytes) -> None:
    with pytest.raises(ExtractionError, match="its JSON cannot be read"):
        extract(body, "x", "application/json")


def test_nothing_but_structure_holds_no_text() -> None:
    with pytest.raises(ExtractionError, match="no readable text"):
        read({"a": [], "b": {"c": None}})


def test_a_lone_surrogate_is_replaced() -> None:
    page = extract(rb'{"wind": "ste\ud800ady"}', "x", "application/json")
    assert page.passages[0].text == "wind: ste?ady"


def test_more_data_than_anybody_reads_is_cut_with_a_notice() -> None:
    page = read([{"n": n} for n in range(30_000)])
    assert page.notice == "only the beginning of its data was read"
    assert page.passages[0].text.startswith("n: 0\nn: 1\n")
    assert read([{"n": 1}]).notice == ""
