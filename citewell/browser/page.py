"""A page as the text browser shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from citewell.browser.characters import inert_line, mark
from citewell.core.addresses import address_parts
from citewell.core.reasons import one_reason
from citewell.core.text import shorten
from citewell.retriever.search.urls import host_of

PageKind = Literal["results", "page", "error"]
_MAX_TITLE = 200  # characters
_PROBLEM = "This page cannot be shown: "


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page to a page of `domain`. Its id is its index in `TextPage.links`."""

    text: str
    url: str
    domain: str

    def mark(self, number: int, domain: str) -> str:
        """Return the mark with id `number` for a page of `domain`; the mark omits that domain."""
        return mark(number, self.text, "" if self.domain == domain else self.domain)


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page as lines of text in which links are written as in WebGPT's appendix A.

    `text` has the marks `【id†text†domain】` or `【id†text】`, and no other special characters. `title` is
    the title line of the state: `page title (domain)` or `Search results for: query`. `url` is the final URL,
    after redirects; empty for results.
    """

    kind: PageKind
    url: str
    domain: str
    title: str
    name: str
    """The title alone, as in references."""
    text: str
    links: tuple[Link, ...] = ()

    @property
    def problem(self) -> str:
        """Why the page cannot be shown; empty for all others."""
        return self.text.removeprefix(_PROBLEM) if self.kind == "error" else ""


def text_page(url: str, name: str, text: str, links: tuple[Link, ...] = ()) -> TextPage:
    """Make the page at `url`, titled `page title (domain)`; without a `name`, the URL is the title.

    `text` must be inert already.
    """
    return _page("page", url, name, text, links)


def error_page(url: str, reason: str) -> TextPage:
    """Make a page that says why the page at `url` cannot be shown."""
    shown = inert_line(one_reason(reason)).rstrip(".")
    return _page("error", url, "Error", f"{_PROBLEM}{shown}.", ())


def _page(kind: PageKind, url: str, name: str, text: str, links: tuple[Link, ...]) -> TextPage:
    domain = host_of(url)
    name = shorten(inert_line(name) or inert_line(_last_part(url)) or domain, _MAX_TITLE)
    return TextPage(kind, url, domain, f"{name} ({domain})" if domain else name, name, text, links)


def _last_part(url: str) -> str:
    return unquote(address_parts(url).path).rstrip("/").rpartition("/")[2].replace("_", " ")
