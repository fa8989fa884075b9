"""What a reader of a page cannot see is not extracted, and what they can see is."""

from __future__ import annotations

import pytest

from benchmarks.hostile.tricks import HIDING, SECRET, SHOWING, TEXT, Trick, page_of
from citewell.core.errors import ExtractionError
from citewell.retriever.extract.html import read_html
from citewell.retriever.extract.page import extract


def text_of(trick: Trick) -> str:
    return "\n".join(block.text for block in read_html(page_of(trick).encode(), "text/html").blocks)


def test_the_tricks_are_many() -> None:
    assert len(HIDING) > 90


@pytest.mark.parametrize("name", HIDING)
def test_what_is_hidden_is_no_text_of_the_page(name: str) -> None:
    text = text_of(HIDING[name])
    assert "green cheese" not in text
    assert all(paragraph in text for paragraph in TEXT)


@pytest.mark.parametrize("name", SHOWING)
def test_what_is_seen_is(name: str) -> None:
    text = text_of(SHOWING[name])
    assert "green cheese" in text
    assert all(paragraph in text for paragraph in TEXT)


def test_an_article_that_only_programs_read_is_not_the_text_of_a_page_that_has_one() -> None:
    data = '{"@context": "https://schema.org", "@type": "Article", "articleBody": "%s"}' % (SECRET * 30)
    text = text_of(Trick(f'<script type="application/ld+json">{data}</script>'))
    assert "green cheese" not in text


def test_a_page_that_waits_for_its_script_is_read() -> None:
    for attributes in ('style="opacity:0"', "hidden", 'style="display:none"'):
        page = f"<body><div {attributes}><main><h1>Kites</h1>{''.join(f'<p>{one}</p>' for one in TEXT * 5)}"
        assert "ripstop" in extract(page.encode(), "https://kites.example/").passages[0].text


@pytest.mark.parametrize(
    "css",
    [
        "{" * 50_000,
        "}" * 50_000,
        "a{" * 50_000,
        ".x " * 100_000 + "{display:none}",
        "@media (" * 20_000,
        "/*" * 90_000,
        ":not(" * 5_000 + "{display:none}",
        "\\" * 100_001,
    ],
)
def test_hostile_style_sheets_harm_nothing(css: str) -> None:
    text = text_of(Trick('<p class="x">@</p>', css + ".y{display:none}"))
    assert TEXT[0] in text


def test_a_page_of_hidden_text_alone_has_none() -> None:
    styles = ('style="font-size:0"', 'style="display:none"', "hidden")
    page = "<body>" + "".join(f"<p {style}>{one}</p>" for style, one in zip(styles, TEXT, strict=True))
    with pytest.raises(ExtractionError, match="no main text"):
        extract(page.encode(), "https://kites.example/")
