"""Text that other text makes superfluous."""

from __future__ import annotations

import pytest

from citewell.retriever.extract.main_text.layout import PageLayout, lay_out, parse
from citewell.retriever.extract.main_text.repeats import comments_under_article, hidden_repeats

PROSE = "A box kite has two cells and a frame of four sticks, and flies in a strong and steady wind."


def layout_of(html: str) -> PageLayout:
    tree = parse(html)
    assert tree is not None
    return lay_out(tree)


def repeats(html: str, leave_out: str = "-") -> set[int]:
    layout = layout_of(html)
    return hidden_repeats(layout, [leave_out not in text for text in layout.texts])


def comments(html: str) -> set[int]:
    layout = layout_of(html)
    return comments_under_article(layout, [True] * len(layout.texts))


@pytest.mark.parametrize("hidden", ["hidden", "aria-hidden='true'", "style='display:none'"])
def test_a_hidden_copy_is_a_repeat_wherever_it_stands(hidden: str) -> None:
    assert repeats(f"<p>{PROSE}</p><div {hidden}><p>{PROSE}</p></div>") == {1}
    assert repeats(f"<div {hidden}><p>{PROSE}</p></div><p>{PROSE}</p>") == {0}
    assert repeats(f"<p>One.</p><p>{PROSE}</p><div {hidden}>One. {PROSE}</div>") == {2}


def test_the_second_of_two_hidden_copies_is_a_repeat() -> None:
    assert repeats(f"<div hidden><p>{PROSE}</p><p>{PROSE}</p></div>") == {1}


def test_other_hidden_text_and_visible_copies_are_none() -> None:
    other = PROSE.replace("kite", "tent").replace("four", "six").replace("strong", "gentle")
    assert repeats(f"<p>{PROSE}</p><div hidden>{other}</div>") == set()
    assert repeats(f"<p>{PROSE}</p><p>{PROSE}</p>") == set()
    assert repeats("<p>Read on</p><div hidden>Read on</div>") == set()


def test_a_copy_of_what_is_left_out_is_none() -> None:
    assert repeats(f"<p>- {PROSE}</p><div hidden>{PROSE}</div>", leave_out="-") == set()


def test_comments_are_found_by_the_names_of_their_frames() -> None:
    page = "<body class='has-comments'><p>{}</p><div id='commentList'><p>I agree.</p></div></body>"
    assert comments(page.format(PROSE * 4)) == {1}
    assert comments(page.format(PROSE)) == set(), "with so little besides, the comments are the content"
    assert comments(f"<p>{PROSE * 4}</p><div class='post'>I agree.</div>") == set()
