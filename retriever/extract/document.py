"""The document that every reader returns: a title, and blocks of text under their headings."""

from __future__ import annotations

from typing import Literal, NamedTuple

Role = Literal["text", "caption", "links", "heading"]
"""What a block is to the text around it: a part of it, the caption of a picture or a table, links to other
pages, or the heading of a section without text."""


class Block(NamedTuple):
    """One block of text as the author set it apart: a paragraph, a list, a table or a listing.

    Line breaks in `text` are the author's. `headings` is the path of section titles, outermost first,
    without the page's own title. `verbatim` marks text whose spaces carry meaning. `page_number` counts from
    1 in a PDF, and is None elsewhere.
    """

    text: str
    headings: tuple[str, ...] = ()
    verbatim: bool = False
    role: Role = "text"
    page_number: int | None = None


class ExtractedDocument(NamedTuple):
    """The text of a page before it is cut into passages.

    `title`, `author` and `date` (YYYY-MM-DD) are empty where the page names none.
    """

    title: str
    blocks: tuple[Block, ...]
    author: str = ""
    date: str = ""


class Outline:
    """The path of headings above the current place in a page.

    >>> outline = Outline(title="Kites")
    >>> for level, heading in [(1, "Kites"), (2, "History"), (3, "China"), (2, "Use")]:
    ...     outline.enter(level, heading)
    ...     print(outline.path)
    ()
    ('History',)
    ('History', 'China')
    ('Use',)
    """

    def __init__(self, title: str) -> None:
        self._title = _folded(title)
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, heading: str) -> None:
        """Close the sections of this level and deeper; open this one unless it is the page's title."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        # Documentation often has a link to each heading, shown as a pilcrow.
        heading = " ".join(heading.split()).removesuffix("¶")
        if heading and _folded(heading) != self._title:
            self._open.append((level, heading))

    @property
    def path(self) -> tuple[str, ...]:
        """The open headings, outermost first."""
        return tuple(heading for _, heading in self._open)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
