"""Selectors of style sheets (https://www.w3.org/TR/selectors-4/).

Most are matched here, and others by cssselect.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

if TYPE_CHECKING:
    from lxml.etree import _Element

_NAME = re.compile(r"[.#](?:[\w-]|[^\x00-\x7f]|\\.)+")
_COMPOUND = re.compile(r"([a-zA-Z][\w-]*|\*)?((?:[.#](?:[\w-]|[^\x00-\x7f])+)*)")
_COMBINED = re.compile(r"\s*([>\s])\s*")
_STATES = re.compile(r":(?:not|is|where|has|matches)\([^)]*\)|\[[^\]]*\]|::?[\w-]+(?:\([^)]*\))?")


class Compound(NamedTuple):
    """The part of a selector that is about one element; `is_child` if the part before is its parent's."""

    tag: str
    id: str
    classes: frozenset[str]
    is_child: bool


class Selector(NamedTuple):
    """A selector: its compounds from the last to the first, or none if cssselect must match it."""

    text: str
    key: str
    """A name that its elements have: `.class`, `#id`, a tag, or `*`."""
    compounds: tuple[Compound, ...]
    names: frozenset[str]
    """All names that a page must have for it: `.class` and `#id`."""
    specificity: tuple[int, int, int]


@lru_cache(maxsize=20_000)  # sites use the same style sheets in all pages
def read_selector(text: str) -> Selector:
    """Read a selector; what is not understood is left to cssselect."""
    bare = _STATES.sub("", text)
    names = _NAME.findall(bare)
    parts = re.split(r"[\s>+~]+", bare.strip())
    ids = sum(name.startswith("#") for name in names)
    others = len(re.findall(r"\[[^\]]*\]|(?<!:):[\w-]+", text))
    tags = sum(bool(re.match(r"[a-zA-Z]", part)) for part in parts)
    last = parts[-1]
    tag = re.match(r"[a-zA-Z][\w-]*", last)
    key = next(iter(_NAME.findall(last)), tag[0].lower() if tag else "*")
    compounds = _compounds(text)
    specificity = (ids, len(names) - ids + others, tags)
    needed = frozenset(name for name in names if "\\" not in name)
    return Selector(text, "*" if "\\" in key else key, compounds, needed, specificity)


def _compounds(text: str) -> tuple[Compound, ...]:
    pieces = _COMBINED.split(text.strip())
    found = []
    for index in range(0, len(pieces), 2):
        compound = _COMPOUND.fullmatch(pieces[index])
        if not compound or not pieces[index]:
            return ()
        names = _NAME.findall(compound[2])
        ids = [name[1:] for name in names if name[0] == "#"]
        if len(ids) > 1:
            return ()
        classes = frozenset(name[1:] for name in names if name[0] == ".")
        tag = (compound[1] or "*").lower()
        is_child = index > 0 and pieces[index - 1] == ">"
        found.append(Compound(tag, ids[0] if ids else "", classes, is_child))
    return tuple(reversed(found))


def fits(element: _Element, compounds: tuple[Compound, ...]) -> bool:
    """Return whether an element is one that the compounds of a selector mean."""
    first, *others = compounds
    if not _is(element, first):
        return False
    if not others:
        return True
    rest = compounds[1:]
    parent = element.getparent()
    if first.is_child:
        return parent is not None and fits(parent, rest)
    while parent is not None:
        if fits(parent, rest):
            return True
        parent = parent.getparent()
    return False


def _is(element: _Element, compound: Compound) -> bool:
    if compound.tag != "*" and element.tag != compound.tag:
        return False
    get = element.attrib.get
    if compound.id and get("id") != compound.id:
        return False
    return not compound.classes or compound.classes.issubset(get("class", "").split())


def select(text: str, tree: _Element) -> frozenset[_Element]:
    """Return the elements that any selector means; none for a state such as :hover, or a fault."""
    path = _path(text)
    try:
        found: Any = path(tree) if path else ()
    except etree.XPathError:
        return frozenset()
    return frozenset(found)


@lru_cache(maxsize=10_000)
def _path(text: str) -> etree.XPath | None:
    from cssselect import HTMLTranslator, SelectorError

    try:
        return etree.XPath(HTMLTranslator().css_to_xpath(text))
    except (SelectorError, etree.XPathError, ValueError, RecursionError):
        return None
