from __future__ import annotations

import pytest

from citewell.browser.limits import BrowserLimits
from citewell.browser.page import Link
from citewell.browser.view import WIDTH, PageView
from citewell.generator.estimate import estimate_tokens
from tests.browser.pages import article

LONG = Link(
    "a link whose text is longer than a line of the browser is wide, and that goes on and on", "u", "d"
)


def view(text: str, *links: Link, tokens: int = 1_500, lines: int = 20) -> PageView:
    page = article(text, "Crows", "birds.example", "crows", *links)
    return PageView(page, BrowserLimits(state_tokens=tokens, window_lines=lines), estimate_tokens)


def shown(seen: PageView) -> list[str]:
    """All lines of the page, window by window."""
    lines: list[str] = []
    while len(lines) < seen.lines:
        lines += seen.window(len(lines)).text.split("\n")
    return lines


def test_lines_break_between_words_and_keep_the_breaks_of_the_page() -> None:
    text = f"Title\n\n{'crows ' * 40}\n  indented"
    lines = shown(view(text))
    assert lines[:2] == ["Title", ""]
    assert lines[-1] == "  indented"
    assert all(len(line) <= WIDTH for line in lines)
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())


def test_words_that_are_too_long_and_scripts_without_spaces_break_anywhere() -> None:
    text = "烏鴉" * 100
    lines = shown(view(text))
    assert [len(line) for line in lines] == [73, 73, 54]
    assert "".join(lines) == text


def test_a_mark_is_never_cut_in_two() -> None:
    links = [Link(f"link {n} with some words", f"u{n}", "other.example") for n in range(60)]
    text = " and, ".join(f"word{n}({{{n}}})" for n in range(60)) + " {60}!"
    seen = view(text, *links, LONG)
    for line in shown(seen):
        assert line.count("【") == line.count("】")
    assert shown(seen)[-2:] == ["【60†" + LONG.text + "†d】", "!"]
    first = 0
    while (last := seen.window(first).last) < seen.lines:
        assert seen.window(first).text.count("【") == seen.window(first).text.count("】")
        first = last


def test_the_text_of_a_link_that_is_a_paragraph_is_shortened_and_its_id_stays() -> None:
    link = Link("crows " * 100, "u", "other.example")
    (line,) = shown(view("{0}", link))
    assert line.startswith("【0†crows crows")
    assert line.endswith("…†other.example】")
    assert len(line) < 200


def test_what_is_in_view_keeps_to_the_lines_and_to_the_tokens() -> None:
    text = "\n".join(f"{'caw ' * 18}" for _ in range(60))
    assert view(text).window(0).last == 20
    small = view(text, tokens=300).window(0)
    assert small.tokens <= 180
    assert 0 < small.last < 20


@pytest.mark.parametrize("tokens", [256, 640])
def test_scrolling_down_shows_every_line_and_up_leads_back_to_the_top(tokens: int) -> None:
    seen = view("\n".join("caw " * (n % 30) for n in range(200)), tokens=tokens)
    first, lines = 0, set(range(seen.window(0).last))
    while first != (after := seen.down(first)):
        assert after in lines
        first = after
        lines |= set(range(first, seen.window(first).last))
    assert lines == set(range(seen.lines))
    assert first == seen.bottom
    while first != (before := seen.up(first)):
        assert seen.window(before).last > first
        first = before
    assert first == 0


def test_a_text_that_was_found_is_in_view_below_two_lines_of_context() -> None:
    seen = view("\n".join(f"Line {n}" for n in range(200)))
    place = seen.page.text.index("Line 100")
    assert seen.showing(place) == 98
    assert seen.showing(0) == 0
    assert seen.window(seen.showing(len(seen.page.text) - 1)).last == 200


def test_an_empty_page_has_no_lines_and_stays_where_it_is() -> None:
    seen = view("")
    assert (seen.lines, seen.window(0), seen.down(0), seen.up(0)) == (0, (0, 0, "", 0), 0, 0)
