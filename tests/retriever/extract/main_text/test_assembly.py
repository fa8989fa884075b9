"""Kept pieces, put together."""

from __future__ import annotations

import pytest

from citewell.retriever.extract.document import Block
from citewell.retriever.extract.main_text.assembly import assemble
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.main_text.surroundings import outside_main_text


def blocks_of(html: str, title: str = "", leave_out: str = "-") -> tuple[Block, ...]:
    """The blocks of a page of which all is kept but the pieces with `leave_out` in them."""
    tree = parse(html)
    assert tree is not None
    layout = lay_out(tree)
    return assemble(layout, [leave_out not in text for text in layout.texts], title)


def texts(html: str, leave_out: str = "-") -> list[str]:
    return [block.text for block in blocks_of(html, leave_out=leave_out)]


def test_headings_are_paths_and_the_title_is_none() -> None:
    html = "<h1>Kites</h1><p>a</p><h2>History</h2><p>b</p><h3>China</h3><p>c</p><h2>Use</h2><p>d</p>"
    assert [(block.text, block.headings) for block in blocks_of(html, "Kites")] == [
        ("a", ()),
        ("b", ("History",)),
        ("c", ("History", "China")),
        ("d", ("Use",)),
    ]


def test_lists_have_marks_numbers_and_depth() -> None:
    html = (
        "<ul><li>bamboo</li><li>paper<ul><li>silk paper</li></ul></li></ul>"
        "<p>then</p><ol><li>Cut.</li><li>Tie.</li></ol><dl><dt>Bridle</dt><dd>Lines at the front.</dd></dl>"
    )
    assert texts(html) == [
        "- bamboo\n- paper\n  - silk paper",
        "then",
        "1. Cut.\n2. Tie.",
        "- Bridle\n  Lines at the front.",
    ]


def test_captions_and_links_to_other_pages_are_known() -> None:
    html = (
        "<p>Kites <a href='/f'>fly</a>.</p><figure><figcaption><p>A box kite</p></figcaption></figure>"
        "<p class='wp-caption-text'>A delta</p><section id='see-also'><ul><li><a href='/w'>Wind</a></li></ul>"
        "</section><div><ul><li><a href='/a'>Ann's kite</a></li></ul></div><h2>Nothing</h2>"
    )
    assert [(block.text, block.role) for block in blocks_of(html)] == [
        ("Kites fly.", "text"),
        ("A box kite", "caption"),
        ("A delta", "caption"),
        ("- Wind", "links"),
        ("- Ann's kite", "text"),
        ("Nothing", "heading"),
    ]


def test_the_numbers_of_a_list_are_those_of_the_page() -> None:
    assert texts("<ol><li>one</li><li>an advert</li><li>three</li></ol>", "advert") == ["1. one\n3. three"]


def test_an_empty_cell_keeps_its_place_in_the_row() -> None:
    rows = "<tr><th></th><th>2019</th><th>2020</th></tr><tr><th>Rain</th><td>812</td><td>655</td></tr>"
    more = "<tr><th>Snow</th><td></td><td>31</td></tr><tr><th>Hail</th><td>2</td><td></td></tr>"
    (block,) = blocks_of(f"<table>{rows}{more}</table>")
    assert block.text.split("\n") == [" | 2019 | 2020", "Rain | 812 | 655", "Snow |  | 31", "Hail | 2"]


def test_a_table_of_data_has_rows_and_a_table_of_the_layout_has_none() -> None:
    assert texts(
        "<table><tr><th>Kind</th><th>Wind</th></tr><tr><td>Box<br>kite</td><td>15</td></tr></table>"
    ) == ["Kind | Wind\nBox kite | 15"]
    prose = "A long paragraph of an old page that is laid out by a table, as it was done in those days. " * 4
    html = f"<table><tr><td>{prose}</td><td><p>{prose}One.</p><p>{prose}Two.</p></td></tr></table>"
    assert len(texts(html)) == 3


def test_listings_are_verbatim() -> None:
    (block,) = blocks_of("<pre><code>def f():\n    return  1</code></pre>")
    assert block == Block("def f():\n    return  1", verbatim=True)


def test_a_text_that_a_page_has_twice_is_kept_once() -> None:
    long = "This is the whole text of a card that small screens show in another place."
    assert texts(f"<p>{long}</p><p>Yes</p><p>{long}</p><p>Yes</p>") == [long, "Yes", "Yes"]


@pytest.mark.parametrize("tag", ["main", "article", "div role=main"])
def test_the_footer_beside_the_main_part_is_no_main_text(tag: str) -> None:
    html = (
        f"<{tag}><p>text</p><footer>by Ann</footer></{tag.split()[0]}><footer><p>licence</p></footer>"
        "<noscript>Please enable JavaScript.</noscript><noscript><p>a picture</p></noscript>"
    )
    tree = parse(html)
    assert tree is not None
    layout = lay_out(tree)
    outside = dict(zip(layout.texts, outside_main_text(layout), strict=True))
    assert outside == {
        "text": False,
        "by Ann": False,
        "licence": True,
        "Please enable JavaScript.": True,
        "a picture": False,
    }


def test_a_page_that_marks_no_main_part_may_have_it_in_a_footer() -> None:
    tree = parse("<p>text</p><footer>more</footer>")
    assert tree is not None
    assert outside_main_text(lay_out(tree)) == [False, False]
