"""HTML to a page of the text browser, in the steps of WebGPT's appendix A."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from html2text import HTML2Text
from lxml import etree, html

from citewell.browser.characters import MARK, inert, inert_line
from citewell.browser.main_part import main_part
from citewell.browser.marking import write_marks
from citewell.browser.page import Link, TextPage, text_page
from citewell.core.errors import ExtractionError, FetchError
from citewell.retriever.extract.charset import decode
from citewell.retriever.fetch.urls import web_url
from citewell.retriever.search.presets import PRESETS
from citewell.retriever.search.urls import host_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_OF_HEAD = ("base", "link", "meta", "noscript", "script", "style", "template", "title", etree.Comment)
_TRAILING = re.compile(r"[ \t]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")


def simplify(
    body: bytes, url: str, content_type: str = "", denied: Collection[str] = PRESETS["webgpt"]
) -> TextPage:
    """Return the main part of the HTML page at `url` as text with numbered links and no other markup.

    Readability finds the main part, and [html2text](https://github.com/Alir3z4/html2text) converts its HTML
    to text. Links to the domains `denied` and their subdomains become text. `content_type` is the HTTP
    header. Raises `ExtractionError` for a page without text.
    """
    tree = _parsed(decode(body, content_type))
    name = _title(tree)
    here, base = _canonical(url), _base(tree, url)
    part = main_part(tree)
    links = write_marks(part, here, base, denied)
    text, shown = _numbered(_as_text(part), links, host_of(url))
    if not text:
        raise ExtractionError("it shows no text", "It may build its text with JavaScript or need a sign-in.")
    return text_page(url, name, text, shown)


class _Printer(HTML2Text):
    """html2text without emphasis, line wrapping and backslashes, so that words can be quoted."""

    def __init__(self) -> None:
        super().__init__(bodywidth=0)
        self.ignore_emphasis = True

    def handle_data(self, data: str, entity_char: bool = False) -> None:
        """Write text without escaping, which html2text does for entities only."""
        super().handle_data(data, True)


def _as_text(part: HtmlElement) -> str:
    part.tail = None
    text = _Printer().handle(html.tostring(part, encoding="unicode"))
    return _BLANK_LINES.sub("\n\n", _TRAILING.sub("", text)).strip()


class _Numbered(NamedTuple):
    text: str
    links: tuple[Link, ...]


def _numbered(text: str, links: Sequence[Link], domain: str) -> _Numbered:
    """Number the links in reading order, and make all text that is not a mark inert."""
    kept: list[Link] = []
    parts: list[str] = []
    end = 0
    for found in MARK.finditer(text):
        link = replace(links[int(found[1])], text=inert_line(found[2]))
        parts += (inert(text[end : found.start()]), link.mark(len(kept), domain))
        kept.append(link)
        end = found.end()
    return _Numbered("".join([*parts, inert(text[end:])]), tuple(kept))


def _parsed(markup: str) -> HtmlElement:
    try:
        # As bytes, because lxml refuses text that declares an encoding.
        tree = html.document_fromstring(
            markup.encode(errors="replace"), parser=html.HTMLParser(encoding="utf-8", remove_pis=True)
        )
    except etree.ParserError:
        raise ExtractionError("its HTML cannot be parsed") from None
    # If a page omits `<body>`, libxml2 takes an unknown element for a part of the head.
    strays = [part for part in tree.iterfind("head/*") if part.tag not in _OF_HEAD]
    if strays:
        if tree.body is None:
            tree.append(tree.makeelement("body"))
        tree.body[:0] = strays
    return tree


def _title(tree: HtmlElement) -> str:
    titles = (tree.xpath("string(//head/title)"), tree.xpath("string(//h1)"), tree.xpath("string(//title)"))
    return next((title for raw in titles if (title := inert_line(raw))), "")


def _base(tree: HtmlElement, url: str) -> str:
    """Return the base of relative links: `<base href>`, resolved against the page's address."""
    bases = tree.xpath("//base[@href]")
    for base in tree.xpath("//base"):
        base.drop_tree()
    if not bases:
        return url
    try:
        return str(urljoin(url, bases[0].get("href").strip()))
    except ValueError:
        return url


def _canonical(url: str) -> str:
    try:
        return str(web_url(url))
    except FetchError:
        return url
