"""A page of a collection, of which only the passages are stored, as a page of text."""

from __future__ import annotations

from citewell.browser.characters import inert, inert_line
from citewell.browser.page import TextPage, text_page
from citewell.core.types import Page


def held_page(page: Page) -> TextPage:
    """Return the passages of a page under their headings, without links, since collections store none."""
    parts: list[str] = []
    above: tuple[str, ...] = ()
    for passage in page.passages:
        shared = next(
            (place for place, (a, b) in enumerate(zip(above, passage.headings, strict=False)) if a != b),
            min(len(above), len(passage.headings)),
        )
        for level, heading in enumerate(passage.headings[shared:], start=shared + 2):
            parts.append(f"{'#' * level} {inert_line(heading)}")
        text = passage.text
        if passage.headings:  # a short passage begins with its heading
            text = text.removeprefix(f"{passage.headings[-1]}\n")
        parts.append(inert(text))
        above = passage.headings
    return text_page(page.url, page.title, "\n\n".join(parts))
