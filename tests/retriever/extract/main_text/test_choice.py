"""Which pieces are kept."""

from __future__ import annotations

from itertools import compress

import numpy as np

from citewell.retriever.extract.main_text.choice import choose
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.main_text.signs import Kind

PROSE = "A box kite has two cells and a frame of four sticks, and flies in a strong and steady wind."


def kept(html: str, likely: list[float], kind: Kind = "other") -> list[str]:
    tree = parse(html)
    assert tree is not None
    layout = lay_out(tree)
    chosen = choose(layout, np.array(likely, dtype=np.float32), kind)
    return list(compress(layout.texts, chosen))


def test_what_is_probably_main_text_is_kept() -> None:
    assert kept("<p>one</p><p>two</p><p>three</p>", [0.9, 0.1, 0.8]) == ["one", "three"]


def test_where_nothing_is_sure_less_is_asked_for() -> None:
    page = f"<p>{PROSE}</p><p>{PROSE}</p><p>perhaps</p>"
    assert kept(page, [0.99, 0.99, 0.4]) == [PROSE, PROSE]
    assert kept(page, [0.5, 0.5, 0.4]) == [PROSE, PROSE, "perhaps"]


def test_more_is_asked_for_on_an_article_and_less_on_a_forum() -> None:
    page = f"<p>{PROSE}</p><p>perhaps</p>"
    assert kept(page, [0.95, 0.5], "article") == [PROSE]
    assert kept(page, [0.95, 0.5], "other") == [PROSE, "perhaps"]
    assert kept(page, [0.95, 0.3], "other") == [PROSE]
    assert kept(page, [0.95, 0.3], "forum") == [PROSE, "perhaps"]


def test_more_is_asked_for_beside_an_article_than_in_it() -> None:
    page = f"<div><p>{PROSE}</p><p>in it</p><p>{PROSE}</p></div><div><p>beside it</p></div>"
    likely = [0.95, 0.6, 0.95, 0.6]
    assert kept(page, likely, "article") == [PROSE, "in it", PROSE]
    assert kept(page, likely, "other") == [PROSE, "in it", PROSE, "beside it"]


def test_a_row_is_kept_whole_or_not_at_all() -> None:
    table = (
        "<table><tr><th>Wing span</th><td>2.1 m</td></tr><tr><th>Shop</th><td>Sign in here</td></tr></table>"
    )
    assert kept(table, [0.9, 0.1, 0.6, 0.1]) == ["Wing span", "2.1 m"]


def test_a_long_row_sets_out_the_page() -> None:
    long = "word " * 100
    html = f"<table><tr><td>menu</td><td>{long}</td></tr></table>"
    assert kept(html, [0.1, 0.9]) == [long.strip()]


def test_a_heading_stays_with_the_text_that_it_opens() -> None:
    html = "<h2>API</h2><h3>Calls</h3><p>text</p><h2>Related</h2><p>link</p><h2>End</h2>"
    assert kept(html, [0.2, 0.25, 0.9, 0.2, 0.05, 0.2]) == ["API", "Calls", "text"]
    assert kept(html, [0.1, 0.25, 0.9, 0.2, 0.05, 0.2]) == ["Calls", "text"]
    assert kept("<h3>Last</h3><h2>First</h2><p>text</p>", [0.25, 0.25, 0.9]) == ["First", "text"]


def test_the_page_footer_is_never_kept() -> None:
    assert kept("<main><p>text</p></main><footer><p>licence</p></footer>", [0.9, 0.9]) == ["text"]


def test_comments_go_from_articles_and_stay_in_forums() -> None:
    page = f"<article><p>{PROSE * 4}</p></article><ol class='comment-list'><li>{PROSE}</li></ol>"
    assert kept(page, [0.99, 0.99], "article") == [PROSE * 4]
    assert kept(page, [0.99, 0.99], "forum") == [PROSE * 4, PROSE]


def test_what_a_page_hides_and_shows_is_kept_once() -> None:
    page = f"<p>{PROSE}</p><div style='display: none'>Also here: {PROSE} {PROSE}</div>"
    assert kept(page, [0.9, 0.9]) == [PROSE]
