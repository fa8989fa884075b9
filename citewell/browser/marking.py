"""Conversion of links, images, superscripts and subscripts in an HTML tree to WebGPT's text."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from citewell.browser.characters import inert, inert_line
from citewell.browser.page import Link
from citewell.core.errors import FetchError
from citewell.retriever.fetch.urls import web_url
from citewell.retriever.search.urls import host_of, in_domains

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_MAX_LINK = 150  # characters of text in a mark; what follows stands behind it
# Elements that html2text separates, and elements that it would join with the text around them.
_BLOCKS = frozenset(
    [
        *("blockquote", "br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "pre"),
        *("td", "th"),
    ]
)
_SECTIONS = frozenset(
    [
        *("address", "article", "aside", "details", "dialog", "fieldset", "figcaption", "figure", "footer"),
        *("form", "header", "hgroup", "legend", "main", "nav", "search", "section", "summary"),
    ]
)
_CODE = frozenset(["code", "kbd", "samp", "tt"])  # html2text would put them in backticks
_SIGNS = {"sup": "^", "sub": "_"}


def write_marks(tree: HtmlElement, url: str, base: str, denied: Collection[str]) -> list[Link]:
    """Turn links, images, superscripts and subscripts of the page at `url` into text, in place.

    Addresses of links are relative to `base`. Returns the links by the numbers of their marks, in document
    order. Only links that open another page are marked; links within the page, to `denied` domains, to mail
    and to scripts become plain text.
    """
    domain = host_of(url)
    links: list[Link] = []
    for element in list(tree.iter()):
        _simplify(element)
    for anchor in list(tree.iter("a")):
        stands_alone = _spread(anchor)
        link = _link(anchor, url, base, denied)
        if link is None:
            anchor.drop_tag()
            continue
        anchor.clear(keep_tail=True)
        anchor.text = _written(link, len(links), domain)
        links.append(link)
        if stands_alone:
            anchor.tag = "div"
        else:
            anchor.drop_tag()
    return links


def _simplify(element: HtmlElement) -> None:
    tag = element.tag
    if not isinstance(tag, str):  # a comment
        element.drop_tree()
        return
    element.text, element.tail = _clean(element.text), _clean(element.tail)
    element.attrib.pop("title", None)  # html2text appends those of abbreviations to the page
    if tag in _SECTIONS:
        element.tag = "div"
    elif tag in _CODE:
        element.tag = "span"
    elif tag == "img":
        alt = inert_line(element.get("alt") or "")
        element.tag, element.text = "span", f"[Image: {alt}]" if alt else "[Image]"
    elif (sign := _SIGNS.get(tag)) and element.text_content().strip():
        element.tag, element.text = "span", sign + (element.text or "").lstrip()


def _clean(text: str | None) -> str | None:
    return inert(text) if text else text


def _link(anchor: HtmlElement, url: str, base: str, denied: Collection[str]) -> Link | None:
    href = (anchor.get("href") or "").strip()
    if not href or href.startswith("#"):
        return None
    try:
        address = str(web_url(urljoin(base, href)))
    except (FetchError, ValueError):
        return None
    if address == url or in_domains(address, denied):
        return None
    text = inert_line(anchor.text_content())
    return Link(text, address, host_of(address)) if text else None


def _spread(anchor: HtmlElement) -> bool:
    """Put spaces between the paragraphs of a link; return True if it has paragraphs."""
    parts = [part for part in anchor.iterdescendants() if part.tag in _BLOCKS]
    for part in parts:
        part.text, part.tail = f" {part.text or ''}", f" {part.tail or ''}"
    return bool(parts)


def _written(link: Link, number: int, domain: str) -> str:
    """Return the mark of a link; a long text is cut in the mark, and its rest follows the mark."""
    head = link.text
    if len(head) > _MAX_LINK:
        head = head[: _MAX_LINK + 1].rpartition(" ")[0] or head[:_MAX_LINK]
    return Link(head, link.url, link.domain).mark(number, domain) + link.text[len(head) :]
