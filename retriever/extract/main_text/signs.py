"""The signs of a page as a whole: its title, and the kind of page that its head and its URL indicate."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from citewell.core.addresses import address_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.etree import _Element

_URL_KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"forum|thread|/t/|topic|communit|discuss|question|viewtopic",
        r"product|/p/|shop|store|/dp/",
        r"collections?/|categor|/c/",
        r"docs?[./]|api|manual|guide|reference|wiki|help",
        r"blog|news|article|/20[012]\d",
    )
)
_FORUM = re.compile(
    r"forums?\.|(?<![\w-])(bbs|boards?|comments|community|discuss(ions?)?|forums?|questions?|t"
    r"|(show)?threads?|topic|viewtopic)(?![\w-])"
)
_OPEN_GRAPH = ("article", "product", "website")
_ARTICLE = {"Article", "NewsArticle", "BlogPosting", "TechArticle", "Report"}
_FORUM_POST = {"QAPage", "DiscussionForumPosting", "Question"}
_SCHEMA = (
    _ARTICLE,
    {"Product", "Offer"},
    _FORUM_POST,
    {"ItemList", "CollectionPage"},
    {"FAQPage"},
)
_TYPE = re.compile(r'"@type"\s*:\s*"(\w+)"')

Kind = Literal["article", "forum", "other"]


class Signs(NamedTuple):
    """The `<title>`, a vector of what the page's head and URL say about its kind, and the kind they name."""

    title: str
    values: tuple[float, ...]
    kind: Kind = "other"


def read_signs(tree: _Element, url: str) -> Signs:
    """Read the signs of a page; an unknown URL may be empty."""
    address = address_parts(url.lower())
    path = address.path
    kinds = [bool(pattern.search(url.lower())) for pattern in _URL_KINDS]
    metas = (meta.get("content") for meta in tree.iter("meta") if meta.get("property") == "og:type")
    graph = next((content for content in metas if content is not None), "").strip().lower()
    types = {name for script in structured_data(tree) for name in _TYPE.findall(script)}
    values = [
        len([part for part in path.split("/") if part]),
        *kinds,
        path in ("", "/"),
        *(graph == kind for kind in _OPEN_GRAPH),
        *(bool(types & kind) for kind in _SCHEMA),
    ]
    titles = (" ".join("".join(title.itertext()).split())[:200] for title in tree.iter("title"))
    kind: Kind = "other"
    if _FORUM.search(f"{address.netloc}{path}") or (types & _FORUM_POST and "FAQPage" not in types):
        kind = "forum"
    elif graph == "article" or types & _ARTICLE:
        kind = "article"
    return Signs(next(titles, ""), tuple(map(float, values)), kind)


def structured_data(tree: _Element) -> list[str]:
    """Return the JSON-LD of a page (https://www.w3.org/TR/json-ld11/), unparsed."""
    scripts = (script for script in tree.iter("script") if script.get("type") == "application/ld+json")
    return [script.text for script in scripts if script.text]


def described(tree: _Element) -> Iterator[dict[str, Any]]:
    """Yield the objects of the JSON-LD of a page; invalid JSON is skipped."""
    for script in structured_data(tree):
        try:
            waiting = [json.loads(script, strict=False)]
        except (ValueError, RecursionError):
            continue
        while waiting:
            value = waiting.pop()
            if isinstance(value, list):
                waiting += value
            elif isinstance(value, dict):
                yield value
                waiting.append(value.get("@graph", []))
