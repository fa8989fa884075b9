"""A page as the text browser shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote, urlsplit

from citewell.browser.characters import inert_line
from citewell.core.text import shorten
from citewell.retriever.search.urls import host_of

PageKind = Literal["results", "page", "error"]
_LONGEST_TITLE = 200  # characters


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


def text_page(url: str, name: str, text: str, links: tuple[Link, ...] = ()) -> TextPage:
    """The page at `url`, under the title `page title (domain)`.

    Where it has no title, `name`, its address has to do. `text` has been made inert.
    """
    return _page("page", url, name, text, links)


def error_page(url: str, reason: str) -> TextPage:
    """What stands in place of a page that cannot be shown, and why."""
    return _page("error", url, "Error", f"This page cannot be shown: {inert_line(reason).rstrip('.')}.", ())


def _page(kind: PageKind, url: str, name: str, text: str, links: tuple[Link, ...]) -> TextPage:
    domain = host_of(url)
    name = shorten(inert_line(name) or inert_line(_last_part(url)) or domain, _LONGEST_TITLE)
    return TextPage(kind, url, domain, f"{name} ({domain})" if domain else name, name, text, links)


def _last_part(url: str) -> str:
    try:
        return unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].replace("_", " ")
    except ValueError:
        return ""
