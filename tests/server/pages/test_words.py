"""The parts of pages that need no browser: marked words, links, Markdown and numbers."""

from __future__ import annotations

import pytest

from citewell.core.text import content_words, words
from citewell.generator.citations.support import rouge_1_precision
from citewell.server.pages.formats import spoken_bytes, spoken_seconds, with_code
from citewell.server.pages.links import site_of, web_address
from citewell.server.pages.support import Piece, supporting

TEXTS = (
    ("The sky is blue.", "Is the sky blue, or BLUE-ish? It is the sky."),
    ("Rund 1.000 Bäume.", "Im Wald stehen 1.000 Bäume und Büsche."),
    ("空は青い", "空は青く、海も青い。"),
    ("İstanbul is large.", "İİ İstanbul is a large city."),
    ("It is.", "It is what it is."),
    ("Nothing of it.", ""),
)


@pytest.mark.parametrize(("sentence", "text"), TEXTS)
def test_the_words_that_are_marked_are_those_that_the_check_counts(sentence: str, text: str) -> None:
    pieces = supporting(sentence, text)
    assert "".join(piece.text for piece in pieces) == text
    marked = {word for piece in pieces if piece.supports for word in words(piece.text)}
    assert marked <= set(content_words(sentence))
    assert bool(marked) == bool(rouge_1_precision(sentence, text))


def test_neighbouring_words_are_one_piece() -> None:
    assert supporting("The bat's 1,000 calls.", "A bat's 1,000 calls, calls.")[1].text == "bat's 1,000 calls"
    assert supporting("A blue sky shines.", "The blue sky  shines on.") == (
        Piece("The ", supports=False),
        Piece("blue sky  shines", supports=True),
        Piece(" on.", supports=False),
    )


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        " https://a.example",
        "https://",
        "data:text/html,x",
        "//a.example",
        "https:\\\\a.example",
        "https://a.example\\@b.example",
        "https://a.example/\n",
        "https://[",
        "file:///etc/passwd",
        "",
    ],
)
def test_what_is_no_web_address_becomes_no_link(url: str) -> None:
    assert web_address(url) is None


def test_a_site_is_named_by_its_host_and_a_file_by_its_name() -> None:
    assert web_address("HTTPS://a.example/x?y#z") == "HTTPS://a.example/x?y#z"
    assert site_of("https://good.example@www.evil.example/") == "evil.example"
    assert site_of("file:///home/me/two%20words.md") == "two words.md"
    assert site_of("collection:notes/birds/owls/little%20owl.md") == "notes: little owl.md"
    assert site_of("/data/wiki/Oxygen") == "Oxygen"
    assert site_of("wikipedia") == "wikipedia"


def test_numbers_are_said_in_few_digits() -> None:
    assert [spoken_seconds(seconds) for seconds in (0, 0.0044, 0.0999, 1.26)] == [
        "0 ms",
        "4 ms",
        "0.1 s",
        "1.3 s",
    ]
    assert [spoken_bytes(size) for size in (999, 1200, 548_000, 3.2e9)] == [
        "999 bytes",
        "1.2 kB",
        "548 kB",
        "3.2 GB",
    ]


def test_what_stands_between_backticks_is_code() -> None:
    assert with_code("the scope `admin` <b>") == "the scope <code>admin</code> &lt;b&gt;"
