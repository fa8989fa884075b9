"""HTML that is made to trouble a reader, or is merely broken."""

from __future__ import annotations

import contextlib
import time

import pytest

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.page import extract

LONG = "A kite is a tethered craft with wing surfaces that react against the air to create lift and drag. "
MOST_SECONDS = 20.0  # of processor time: the default of extract.seconds


def read(html: str) -> Page:
    return extract(
        html.encode("utf-8", errors="surrogatepass"), "https://a.example/x", "text/html; charset=utf-8"
    )


def text_of(page: Page) -> str:
    return "\n".join(passage.text for passage in page.passages)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000 + LONG,
        "<ul><li>" * 50_000 + LONG,
        "<b>" * 100_000 + LONG,
        "<table><tr><td>" * 30_000 + LONG,
        f"<div {' '.join(f'a{n}=1' for n in range(15_000))}>{LONG}</div>",
        f'<div class="{" ".join(f"word{n}x" for n in range(300_000))}"><p>{LONG}</p></div>',
        "<p>kite</p>" * 50_000,
        "<br>" * 300_000 + LONG,
        "<span>a</span> " * 100_000,
        "<ol>" + "<li>kites</li>" * 30_000 + "</ol>",
        f"<p>{LONG * 20_000}</p>",
        "".join(f"<h{n % 6 + 1}>Heading {n}</h{n % 6 + 1}>" for n in range(20_000)),
        f'<script type="application/ld+json">{"[" * 100_000}</script><p>{LONG}</p>',
        '<script type="application/ld+json">{"author":' + "[" * 900 + "]" * 900 + f"}}</script><p>{LONG}</p>",
    ],
    ids=[
        "deep", "deep lists", "deep inline", "deep tables", "attributes", "class names", "paragraphs",
        "breaks", "spans", "items", "one paragraph", "headings", "deep data", "deep author",
    ],
)  # fmt: skip
def test_it_ends_in_a_page_or_a_reason_in_time(html: str) -> None:
    start = time.process_time()
    with contextlib.suppress(ExtractionError, RecursionError):
        assert read(html).passages
    assert time.process_time() - start < MOST_SECONDS


def test_nuls_and_broken_characters_do_not_end_the_text() -> None:
    page = extract(
        f"<!doctype html><p>{LONG}</p>\0<p>Kites \0 fly. {LONG}</p>".encode()
        + b"\xff\xfe<p>"
        + LONG.encode()
        + b"Last.</p>",
        "https://a.example/x",
        "text/html; charset=utf-8",
    )
    assert "Last." in text_of(page)


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[]",
        "null",
        '{"@type": 5, "articleBody": 7, "author": 3, "datePublished": []}',
        '{"@type": {"a": 1}, "author": {"name": {"name": 1}}, "@graph": "x"}',
        '{"@type": ["Article", 5], "author": [null, {"name": "\\ud800"}], "articleBody": "\\ud800"}',
    ],
)
def test_structured_data_of_any_form(data: str) -> None:
    page = read(f'<title>Kites</title><script type="application/ld+json">{data}</script><p>{LONG * 3}</p>')
    assert LONG.strip() in text_of(page)
    text_of(page).encode()
    page.author.encode()


def test_text_that_is_cut_off_in_a_tag() -> None:
    assert LONG.strip() in text_of(read(f"<html><body><article><p>{LONG}</p><p>{LONG} Two.</p><a href='http"))
