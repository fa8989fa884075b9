"""A page as pieces in frames."""

from __future__ import annotations

import random

import pytest

from citewell.retriever.extract.main_text.layout import PageLayout, lay_out, parse
from tests.retriever.extract.main_text.trees import made_up_tree

UNREAD = ["script", "style", "svg", "template", "select"]


def layout_of(html: str) -> PageLayout:
    tree = parse(html)
    assert tree is not None
    return lay_out(tree)


def texts(html: str) -> list[str]:
    return layout_of(html).texts


def test_inline_elements_stay_in_a_line_and_blocks_begin_one() -> None:
    html = "<div>A <b>box</b> k<i>i</i>te<p>flies</p>in the <a href='/'>wind</a>.</div>"
    assert texts(html) == ["A box kite", "flies", "in the wind."]


def test_one_break_is_a_line_and_two_are_a_paragraph() -> None:
    assert texts("<p>12 Wind Street<br>Weifang<br><br>China<br/> <br/>Asia</p>") == [
        "12 Wind Street\nWeifang",
        "China",
        "Asia",
    ]


def test_lines_of_the_source_are_none_of_the_page_except_in_pre() -> None:
    assert texts("<p>one\n  two\t three</p>") == ["one two three"]
    assert texts("<pre>\n  def f():\n      pass\n</pre>") == ["  def f():\n      pass"]


@pytest.mark.parametrize("tag", UNREAD)
def test_what_shows_no_text_is_not_read_but_what_follows_is(tag: str) -> None:
    assert texts(f"<p>before <{tag}>hidden</{tag}> after</p>") == ["before after"]


def test_what_is_in_elements_without_text_is_not_read_either() -> None:
    drawn = "<svg><g>a <p>b</p> c</g> d</svg>"
    assert texts(f"<div>one {drawn}two</div>{drawn}<template><div>e</div></template>three") == [
        "one two",
        "three",
    ]


def test_comments_and_processing_instructions_are_not_read() -> None:
    assert texts("<p>one <!-- two --><?php three ?>four</p>") == ["one four"]


def test_a_piece_counts_its_links_buttons_and_bold_text() -> None:
    layout = layout_of("<p>See <a>here</a> and <a><b>there</b></a>, <button>or not</button></p>")
    assert layout.counts == [(2, 9, 6, 1, 4)]


def test_a_frame_has_its_names_and_says_whether_it_is_hidden() -> None:
    layout = layout_of(
        '<div class="post body" id="p1" role="main" itemprop="text" aria-label="The post">a</div>'
        '<div style="color: red; display : none">b</div><div hidden>c</div><div aria-hidden="true">d</div>'
        "<p>e</p>"
    )
    assert layout.names[layout.owners[0]].split() == ["post", "body", "p1", "main", "text", "The", "post"]
    assert layout.roles == {layout.owners[0]: "main"}
    assert layout.hidden == layout.owners[1:4]


def test_attributes_without_a_proper_name_do_no_harm() -> None:
    assert texts('<div {{}} =x "><p <b>kites</p></div>')


def test_a_charset_that_the_page_declares_is_ignored() -> None:
    declared = '<?xml version="1.0" encoding="latin-1"?><html><meta charset="gbk">'
    assert texts(f"{declared}<p>Größe 风筝</p></html>") == ["Größe 风筝"]


@pytest.mark.parametrize("html", ["", "   ", "<!-- nothing -->"])
def test_a_text_without_elements_is_no_page(html: str) -> None:
    tree = parse(html)
    assert tree is None or not lay_out(tree).texts


@pytest.mark.parametrize("seed", range(20))
def test_no_word_is_lost_or_moved_and_frames_nest(seed: int) -> None:
    draw = random.Random(seed)
    words: list[str] = []
    layout = layout_of(f"<body>{made_up_tree(draw, words)}</body>")
    read = " ".join(layout.texts).split()
    # The parser moves what stands in a table outside its cells, so that only the words are sure.
    assert sorted(read) == sorted(words)
    for frame, parent in enumerate(layout.parents):
        assert parent < frame
        first, last = layout.first[frame], layout.last[frame]
        assert first <= last <= len(layout.texts)
        if parent >= 0:
            assert layout.first[parent] <= first <= last <= layout.last[parent]
            assert layout.depths[frame] == layout.depths[parent] + 1
    for number, (text, owner) in enumerate(zip(layout.texts, layout.owners, strict=True)):
        assert text.strip()
        assert layout.first[owner] <= number < layout.last[owner]
        assert layout.lineage(owner)[-1] == 0
