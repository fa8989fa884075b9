"""What pages say of themselves."""

from __future__ import annotations

import pytest

from citewell.retriever.extract.main_text.layout import parse
from citewell.retriever.extract.main_text.signs import described
from citewell.retriever.extract.metadata import Metadata, article_body, read_metadata


def metadata_of(head: str, body: str = "<p>text</p>") -> Metadata:
    markup = f"<html><head>{head}</head><body>{body}</body></html>"
    tree = parse(markup)
    assert tree is not None
    return read_metadata(tree, list(described(tree)), markup.encode())


def linked(data: str) -> str:
    return f'<script type="application/ld+json">{data}</script>'


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Box kites</title>", "", "Box kites"),
        ("<title>Box kites in the Alps | Kites</title>", "", "Box kites in the Alps"),
        (
            "<title>Kite World - Box kites in the high Alps</title>",
            "",
            "Kite World - Box kites in the high Alps",
        ),
        (
            '<title>Kite World - Box kites</title><meta property="og:site_name" content="Kite World">',
            "",
            "Box kites",
        ),
        ("<title>Kites</title>", "<h1>How to fly a box kite</h1>", "How to fly a box kite"),
        ("<title>Box kites - Kite World</title>", "<h1>Kite World!</h1><h1>Box kites</h1>", "Box kites"),
        ("<title>Box kites: a guide</title>", "<h1>Menu</h1><h1>Follow us</h1>", "Box kites: a guide"),
        ("<title>风筝 - 百科</title>", "<h1>风筝</h1>", "风筝"),
        ('<meta property="og:title" content="Box kites">', "", "Box kites"),
        ("", "<h2>Box <em>kites</em></h2>", "Box kites"),
        ("", "", ""),
    ],
)
def test_title(head: str, body: str, title: str) -> None:
    assert metadata_of(head, body).title == title


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ('<meta name="author" content="By Ann Lee">', "", "Ann Lee"),
        ('<meta name="author" content="https://a.example/ann">', '<a rel="author">Ann Lee</a>', "Ann Lee"),
        ("", '<span itemprop="author"> Ann <b>Lee</b></span>', "Ann Lee"),
        (linked('{"@type": "Article", "author": {"name": "Ann Lee"}}'), "", "Ann Lee"),
        (
            linked('{"@graph": [{"@type": ["Report"], "author": ["Ann Lee", {"name": "Bo"}]}]}'),
            "",
            "Ann Lee, Bo",
        ),
        (linked('{"@type": "Product", "author": "Ann Lee"}'), "", ""),
        ("", "", ""),
    ],
)
def test_author(head: str, body: str, author: str) -> None:
    assert metadata_of(head, body).author == author


@pytest.mark.parametrize(
    ("head", "body", "date"),
    [
        (linked('{"@type": "NewsArticle", "datePublished": "2024-03-05T08:00:00Z"}'), "", "2024-03-05"),
        ('<meta property="article:published_time" content="2024-03-05T08:00">', "", "2024-03-05"),
        ('<meta name="citation_publication_date" content="2024/03/05">', "", "2024-03-05"),
        ("", '<time datetime="2024-03-05">5 March</time>', "2024-03-05"),
        ('<meta name="date" content="2024/3/5">', "", "2024-03-05"),
        ('<meta name="date" content="2024-13-45">', "", ""),
        ('<meta name="date" content="２０２４-０３-０５">', "", ""),
        ('<meta name="date" content="0001-01-01T00:00:00Z">', "", ""),
        ("", '<time datetime="2999-12-24">Next concert</time>', ""),
        (
            '<meta property="article:published_time" content="0000-00-00 00:00:00">'
            '<meta name="date" content="2024-03-05">',
            "",
            "2024-03-05",
        ),
        ("", '<time datetime="March">5 March</time>', ""),
        ("", "", ""),
    ],
)
def test_date(head: str, body: str, date: str) -> None:
    assert metadata_of(head, body).date == date


def test_the_body_of_an_article_is_paragraphs_without_markup() -> None:
    tree = parse(
        linked('{"articleBody": "<p>One &amp; two.</p><p>Three.</p>"}') + linked('{"articleBody": "x"}')
    )
    assert tree is not None
    assert article_body(list(described(tree))) == ["One & two.", "Three."]
