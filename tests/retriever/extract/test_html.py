"""HTML pages, as people write them."""

from __future__ import annotations

import pytest

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.page import extract

LONG = "A kite is a tethered craft with wing surfaces that react against the air to create lift and drag. "


def read(
    body: str, head: str = "<title>Kites - The Site</title>", url: str = "https://a.example/kites"
) -> Page:
    markup = f'<!doctype html><html><head><meta charset="utf-8">{head}</head><body>{body}</body></html>'
    return extract(markup.encode(), url, "text/html; charset=utf-8")


def article(body: str) -> Page:
    return read(f"<main><article><h1>Kites</h1><p>{LONG}</p>{body}</article></main>")


def text_of(page: Page) -> str:
    return "\n".join(passage.text for passage in page.passages)


def test_navigation_footer_and_scripts_are_left_out() -> None:
    page = read(
        '<nav><a href="/">Home</a> | <a href="/index">Index</a></nav>'
        f"<main><article><h1>Kites</h1><p>{LONG * 2}</p><p>{LONG} Kites were invented in China.</p>"
        "<script>var tracking = 1;</script></article></main>"
        "<footer><p>Copyright by the site. All rights reserved.</p></footer>"
    )
    assert page.title == "Kites"
    text = text_of(page)
    assert "invented in China" in text
    assert not any(noise in text for noise in ("Home", "tracking", "Copyright"))


def test_headings_give_each_passage_its_path() -> None:
    page = article(
        f"<h2>History</h2><p>{LONG} One.</p><h3>In <em>China</em></h3><p>{LONG} Two.</p>"
        f"<h2>Use</h2><p>{LONG} Three.</p>"
    )
    assert [passage.headings for passage in page.passages] == [
        (),
        ("History",),
        ("History", "In China"),
        ("Use",),
    ]


def test_a_list_stays_with_the_sentence_that_announces_it() -> None:
    page = article(
        "<p>To build one you need these things:</p>"
        "<ul><li>bamboo or <b>fibreglass</b></li><li>paper<ul><li>silk paper</li></ul></li></ul>"
    )
    assert page.passages[-1].text.endswith(
        "To build one you need these things:\n- bamboo or fibreglass\n- paper\n  - silk paper"
    )


def test_ordered_lists_keep_their_numbers() -> None:
    page = article("<p>Build it:</p><ol><li>Cut the sticks.</li><li>Tie them.</li></ol>")
    assert "Build it:\n1. Cut the sticks.\n2. Tie them." in text_of(page)


def test_tables_become_rows() -> None:
    page = article(
        "<table><tr><th>Kind</th><th>Wind in km/h</th></tr><tr><td>Delta</td><td>6 to 25</td></tr>"
        "<tr><td>Box <br>kite</td><td><p>15</p><p>to 40</p></td></tr></table>"
    )
    assert "Kind | Wind in km/h\nDelta | 6 to 25\nBox kite | 15 to 40" in text_of(page)


@pytest.mark.parametrize(
    "listing",
    [
        "<pre>{code}</pre>",
        "<pre><code class='language-py'>{code}</code></pre>",
        "<div class='highlight'><pre><span></span>{code}</pre></div>",
    ],
)
def test_listings_keep_their_lines_and_indentation(listing: str) -> None:
    code = "def lift(wind):\n    area   = 2\n    return area * wind"
    page = article(f"<p>The lift can be computed by this function:</p>{listing.format(code=code)}")
    assert f"this function:\n{code}" in text_of(page)


def test_definition_lists_keep_term_and_definition_together() -> None:
    page = article("<dl><dt>Bridle</dt><dd>The lines that join the kite to its flying line.</dd></dl>")
    assert "- Bridle\n  The lines that join the kite to its flying line." in text_of(page)


def test_line_breaks_and_quotations() -> None:
    page = article(
        f"<p>12 Wind Street<br>Weifang</p><blockquote>Source lines\nare not   breaks. {LONG}</blockquote>"
    )
    text = text_of(page)
    assert "12 Wind Street\nWeifang" in text
    assert "Source lines are not breaks." in text


def test_forum_posts_are_content() -> None:
    posts = "".join(
        f'<div class="post"><div class="author">user{n}</div><p>Answer {n}: {LONG}</p></div>'
        for n in range(1, 5)
    )
    page = read(f'<div id="thread"><h1>Why does my kite spin?</h1>{posts}</div>')
    assert page.title == "Why does my kite spin?"
    assert all(f"Answer {n}:" in text_of(page) for n in range(1, 5))


def test_chinese_page() -> None:
    sentence = "风筝起源于中国，最早用于军事通信。后来它成为民间的游戏，流传到世界各地。"
    page = read(f"<article><h1>风筝</h1><h2>历史</h2><p>{sentence * 40}</p></article>")
    assert page.title == "风筝"
    assert all(passage.headings == ("历史",) for passage in page.passages)
    assert max(len(passage.text) for passage in page.passages) <= 1000
    # Cut between sentences, so that each passage can be quoted.
    assert all(passage.text.endswith("。") for passage in page.passages)


@pytest.mark.parametrize(
    "fragment", ["<p>{}</p>", "<div>{}</div>", "<h1>Kites</h1>{}", "<table><tr><td>{}</table>"]
)
def test_fragments_are_read(fragment: str) -> None:
    page = extract(fragment.format(LONG).encode(), "https://a.example/f", "text/html")
    assert LONG.strip() in text_of(page)


def test_a_short_page_is_better_than_none() -> None:
    page = read("<div>Office hours: Monday to Friday, 9 to 5.</div>")
    assert "Monday to Friday" in text_of(page)


@pytest.mark.parametrize(
    "body",
    [
        "<script>render({a: 1})</script>",
        '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript>',
        "<p>Loading…</p>",
        "",
    ],
)
def test_a_page_without_text_says_so(body: str) -> None:
    with pytest.raises(ExtractionError, match="no main text found") as caught:
        read(body, head="<title>App</title><script>var x = 'a long script with words in it';</script>")
    assert "JavaScript" in caught.value.hint


@pytest.mark.parametrize(
    ("head", "body", "given", "expected"),
    [
        ("<title>From the head</title>", "", "", "From the head"),
        ("<title>Head</title>", "<h1>From  the\nheading</h1>", "", "From the heading"),
        ("", "", "From the search", "From the search"),
        ("", "", "", "Kite flying"),
    ],
)
def test_title(head: str, body: str, given: str, expected: str) -> None:
    markup = f"<html><head>{head}</head><body>{body}<p>{LONG}</p><p>{LONG}</p></body></html>"
    page = extract(markup.encode(), "https://a.example/wiki/Kite_flying?x=1", "text/html", given)
    assert page.title == expected
    assert all(passage.title == expected for passage in page.passages)
