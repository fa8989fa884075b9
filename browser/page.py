"""A page as the text browser shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PageKind = Literal["results", "page", "error"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page. Its id is its place in `TextPage.links`.

    `domain` is that of the page it leads to; the browser leaves it out where the link stays on its site.
    """

    text: str
    url: str
    domain: str


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page as lines of text in which links are written as in WebGPT's appendix A.

    `text` has the marks `【id†text†domain】` or `【id†text】`, and no other such characters. `title` is the
    whole line of the state: `page title (domain)`, or `Search results for: query`. `url` is where the page
    came from in the end, after redirects; empty for results.
    """

    kind: PageKind
    url: str
    domain: str
    title: str
    name: str
    """The title alone, as references have it."""
    text: str
    links: tuple[Link, ...] = ()
