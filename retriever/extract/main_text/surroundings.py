"""Text that is never main text, whatever its words: footers, and calls for JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.layout import PageLayout

_MAIN = frozenset({"main", "article"})
_MAX_NOTICE = 300  # characters of "You need to enable JavaScript to run this app."


def outside_main_text(layout: PageLayout) -> list[bool]:
    """Return which pieces cannot be main text: the footer beside the main part, and calls for JavaScript.

    A footer inside `<main>` or `<article>`, or on a page that marks neither, can be main text.
    """
    footers = layout.frames_of("footer")
    if footers and not _has_main(layout):
        footers = []
    footers = [
        frame for frame in footers if not any(_is_main(layout, outer) for outer in layout.lineage(frame))
    ]
    outside = layout.contained_in(footers)
    for frame in layout.frames_of("noscript"):
        for index in range(layout.first[frame], layout.last[frame]):
            outside[index] = outside[index] or _asks_for_javascript(layout.texts[index])
    return outside


def _has_main(layout: PageLayout) -> bool:
    """Return whether a page marks its main part."""
    return not _MAIN.isdisjoint(layout.tags) or "main" in layout.roles.values()


def _is_main(layout: PageLayout, frame: int) -> bool:
    return layout.tags[frame] in _MAIN or layout.roles.get(frame) == "main"


def _asks_for_javascript(text: str) -> bool:
    return len(text) <= _MAX_NOTICE and "javascript" in text.casefold()
