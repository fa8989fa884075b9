"""The links of an HTML page, and its instructions to crawlers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.errors import FetchError
from citewell.retriever.extract.charset import decode
from citewell.retriever.fetch.urls import WebUrl, web_url

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_HTML = ("text/html", "application/xhtml+xml")
_MAX_LINKS = 10_000
_SESSION = re.compile(r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|session_?id|utm_\w+)", re.I)
_REFRESH = re.compile(r"""[\s\d.]*[;,]\s*url\s*=\s*["']?([^"']+)""", re.I)
_PRODUCTS = ("robots", "citewell")
_VALUED = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_PATH_SESSION = re.compile(r";jsessionid=[^/?;]*", re.I)


class Leads(NamedTuple):
    """The distinct links of a page in canonical form, in order, and whether the page forbids indexing."""

    links: tuple[str, ...] = ()
    noindex: bool = False


def canonical(url: WebUrl) -> str:
    """Return the canonical form of a URL: no fragment, default port, session id or campaign tag; a path `/`.

    yarl applies the normalizations of RFC 3986 §6.2; removing session ids and campaign tags comes on top.
    """
    path = _PATH_SESSION.sub("", url.raw_path)
    changed = url.with_path(path, encoded=True, keep_query=True)
    if names := [name for name in url.query if _SESSION.fullmatch(name)]:
        changed = changed.without_query_params(*names)
    return str(web_url(str(changed)))


def read_leads(body: bytes, url: str, content_type: str) -> Leads:
    """Read the links of the page at `url` that are not marked `nofollow`, and its `noindex`.

    A link is an `<a href>`, or the page that `<meta http-equiv="refresh">` goes on to: the start page of a
    manual with versions is often nothing else. At most the first 10,000 links are read.

    `<meta name="robots">`, and `"citewell"` for this crawler alone:
    https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag.
    """
    from lxml import etree, html

    if not content_type.lower().startswith(_HTML):
        return Leads()
    # Bytes, because lxml refuses text that declares an encoding.
    text = decode(body, content_type).encode(errors="replace")
    try:
        tree = html.document_fromstring(text, parser=html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:  # an empty page leads nowhere
        return Leads()
    links = dict.fromkeys(islice(_links(tree, web_url(url)), _MAX_LINKS))
    return _obeying(Leads(tuple(links)), _wishes(tree))


def permitted(leads: Leads, robots: Iterable[str]) -> Leads:
    """Return what the values of the header `X-Robots-Tag` leave of the leads of a page.

    A value may begin with the name of the crawler that it is for:
    https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag#xrobotstag.
    """
    return _obeying(leads, {wish for value in robots for wish in _header_wishes(value)})


def _obeying(leads: Leads, wishes: set[str]) -> Leads:
    follows = wishes.isdisjoint({"nofollow", "none"})
    return Leads(leads.links if follows else (), leads.noindex or not wishes.isdisjoint({"noindex", "none"}))


def _header_wishes(value: str) -> Iterator[str]:
    product = "robots"
    for part in value.lower().split(","):
        name, colon, wish = map(str.strip, part.partition(":"))
        if colon and name not in _VALUED:
            product = name
        if product in _PRODUCTS:
            yield wish if colon else name


def _wishes(tree: HtmlElement) -> set[str]:
    metas = (meta for meta in tree.iter("meta") if (meta.get("name") or "").strip().lower() in _PRODUCTS)
    return {wish.strip().lower() for meta in metas for wish in (meta.get("content") or "").split(",")}


def _links(tree: HtmlElement, base: WebUrl) -> Iterator[str]:
    for element in tree.iter("base"):
        if href := element.get("href"):
            base = _joined(base, href) or base
            break
    for element in tree.iter("meta", "a"):
        href = _refresh(element) if element.tag == "meta" else element.get("href")
        if href is None or "nofollow" in (element.get("rel") or "").lower().split():
            continue
        if link := _joined(base, href):
            yield canonical(link)


def _refresh(meta: HtmlElement) -> str | None:
    """Return where the page goes on to by itself; None if it stays, or loads itself again."""
    if (meta.get("http-equiv") or "").strip().lower() != "refresh":
        return None
    found = _REFRESH.match(meta.get("content") or "")
    return found[1] if found else None


def _joined(base: WebUrl, href: str) -> WebUrl | None:
    """Return the URL that a link means, or None if it is not a web URL (mailto:, javascript:, misspelled)."""
    try:
        return web_url(href.strip(), base)
    except FetchError:
        return None
