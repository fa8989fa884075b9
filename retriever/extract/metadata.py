"""The metadata of an HTML page: title, author, date, and the article in its structured data."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.retriever.extract.data import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.etree import _Element

_SITE = re.compile(r"\s+[|–—·:»-]+\s+|\s*[|»]\s*")
_DAY = re.compile(r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?![0-9])")
_FIRST_YEAR = 1500
_ARTICLES = frozenset(
    [
        "Article",
        "NewsArticle",
        "BlogPosting",
        "TechArticle",
        "Report",
        "ScholarlyArticle",
        "DiscussionForumPosting",
        "Review",
    ]
)
_PARAGRAPH = re.compile(r"\n\s*|(?<=[.!?])\s{2,}")
_MAX_NAME = 100  # characters


class Metadata(NamedTuple):
    """The metadata of a page; unknown fields are empty strings, `date` is YYYY-MM-DD."""

    title: str
    author: str
    date: str


def read_metadata(tree: _Element, items: Sequence[dict[str, Any]], markup: bytes) -> Metadata:
    """Read the metadata from the head of a page, its JSON-LD, its first heading and its microdata.

    `items` are the objects of its JSON-LD. `markup` is the source of the tree: a property that does not occur
    in it is not searched for.
    """
    articles = [item for item in items if _types(item) & _ARTICLES]
    metas = _metas(tree)
    author, date = _author(metas, articles), _date(_said(metas, articles))
    if not author and _is_attribute(b"author", markup):
        author = _marked_author(tree)
    return Metadata(
        _title(tree, metas),
        author,
        date or _date(_marked_dates(tree, _is_attribute(b"datePublished", markup))),
    )


def article_body(items: Sequence[dict[str, Any]]) -> list[str]:
    """Return the paragraphs of `articleBody` (https://schema.org/articleBody); none if no item has one."""
    bodies = [text for item in items if isinstance(text := item.get("articleBody"), str)]
    text = max(bodies, key=len, default="")
    return [paragraph for paragraph in _PARAGRAPH.split(plain_text(text)) if paragraph.strip()]


def _title(tree: _Element, metas: dict[str, str]) -> str:
    whole = _head_title(tree)
    shared = metas.get("og:title", "")
    found = dict.fromkeys(_squeezed("".join(heading.itertext())) for heading in tree.iter("h1"))
    headings = [text for text in found if len(text) > 3 or (text and not text.isascii())]
    titles = _folded(f"{whole} {shared}")
    for text in headings:
        # The main heading occurs in the title; a logo or a slogan set as a heading does not.
        if len(headings) == 1 or _folded(text) in titles:
            return text
    site = _folded(metas.get("og:site_name", ""))
    return _without_site(shared, site) or _without_site(whole, site) or _first_heading(tree)


def _head_title(tree: _Element) -> str:
    """Return the `<title>` in the head, or else the first anywhere."""
    found = list(tree.iter("title"))
    in_head = (
        element for element in found if (parent := element.getparent()) is not None and parent.tag == "head"
    )
    texts = ("".join(element.itertext()) for element in chain(islice(in_head, 1), found[:1]))
    return next(filter(None, map(_squeezed, texts)), "")


def _without_site(title: str, name: str) -> str:
    """Strip the name of the site, which is the shorter part at one end: `Kites | Example News`."""
    parts = [part for part in _SITE.split(title) if part]
    while len(parts) > 1 and name and name in (_folded(parts[-1]), _folded(parts[0])):
        gone = parts[-1] if _folded(parts[-1]) == name else parts[0]
        title = title.replace(gone, "").strip(" \t|–—·:»-")
        parts.remove(gone)
    if len(parts) == 1:
        return title
    if parts and len(parts[-1]) < len(parts[0]) and title.endswith(parts[-1]) and not name:
        return title[: title.rindex(parts[-1])].rstrip(" \t|–—·:»-")
    return title


def _first_heading(tree: _Element) -> str:
    headings = (_squeezed("".join(heading.itertext())) for heading in tree.iter("h1", "h2"))
    return next(filter(None, headings), "")


def _author(metas: dict[str, str], articles: list[dict[str, Any]]) -> str:
    for article in articles:
        if names := ", ".join(dict.fromkeys(_names(article.get("author")))):
            return names[:_MAX_NAME]
    for name in ("author", "article:author", "citation_author", "dc.creator", "parsely-author", "byl"):
        value = metas.get(name, "")
        if value and not value.startswith(("http:", "https:", "@")) and len(value) <= _MAX_NAME:
            return re.sub(r"^by\s+", "", value, flags=re.IGNORECASE)
    return ""


def _marked_author(tree: _Element) -> str:
    # Stop at the first with a text: XPath would visit all elements.
    marked = (
        element
        for element in tree.iter()
        if element.get("itemprop") == "author" or element.get("rel") == "author"
    )
    texts = (_squeezed("".join(element.itertext())) for element in marked)
    return next((text for text in texts if 0 < len(text) <= _MAX_NAME), "")


def _is_attribute(value: bytes, markup: bytes) -> bool:
    """Return whether an attribute in the markup may have this value, which is faster than a search."""
    place = markup.find(value)
    while place >= 0 and not markup[max(0, place - 9) : place].rstrip(b"\"' \t\r\n").endswith(b"="):
        place = markup.find(value, place + 1)
    return place >= 0


def _names(author: Any) -> Iterator[str]:
    if isinstance(author, str):
        yield _squeezed(plain_text(author))
    elif isinstance(author, list):
        for one in author:
            yield from _names(one)
    elif isinstance(author, dict) and isinstance(name := author.get("name"), (str, list)):
        yield from _names(name)


def _date(values: Iterator[Any]) -> str:
    """Return the first value with a day that exists and has come, in UTC; empty if there is none."""
    for value in values:
        if not isinstance(value, str) or not (found := _DAY.search(value)):
            continue
        with suppress(ValueError):
            day = date(*map(int, found.groups()))
            if day.year >= _FIRST_YEAR and day <= datetime.now(UTC).date() + timedelta(days=1):
                return day.isoformat()
    return ""


def _said(metas: dict[str, str], articles: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield the dates of publication in the head of a page, the most reliable first."""
    for article in articles:
        yield from (article.get("datePublished"), article.get("dateCreated"))
    for name in (
        "article:published_time",
        "date",
        "dc.date",
        "citation_publication_date",
        "parsely-pub-date",
    ):
        yield metas.get(name)


def _marked_dates(tree: _Element, has_property: bool) -> Iterator[Any]:
    for element in tree.iter() if has_property else ():
        if element.get("itemprop") == "datePublished":
            yield from (element.get("content"), element.get("datetime"))
    yield from (element.get("datetime") for element in islice(tree.iter("time"), 1))


def _metas(tree: _Element) -> dict[str, str]:
    """Return the contents of `<meta name=…>` and `<meta property=…>`, the first of each name."""
    metas: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = (element.get("property") or element.get("name") or "").lower()
        if name and not metas.get(name):
            metas[name] = _squeezed(element.get("content") or "")
    return metas


def _types(item: dict[str, Any]) -> set[str]:
    kind = item.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return {one for one in kinds if isinstance(one, str)}


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _folded(text: str) -> str:
    return _squeezed(text).casefold()
