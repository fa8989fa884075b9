"""The pieces of text of a page without what its reader cannot see."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.retriever.extract.main_text.layout import PageLayout, lay_out
from citewell.retriever.extract.visibility.marking import mark_hidden

if TYPE_CHECKING:
    from lxml.etree import _Element

_PRIVATE = range(0xF0000, 0xFFFFD)  # characters that no standard gives a meaning


def seen_texts(tree: _Element, layout: PageLayout) -> list[str]:
    """Return the texts of a layout without hidden text; pieces that are hidden as a whole are empty.

    The tree, from which the layout was read, is changed: hidden text is marked in it and then read again, so
    that what surrounds it is judged as if nothing were hidden, as in the pages that the classifier knows.
    """
    text = "".join(layout.texts)
    begin, end = (chr(code) for code in _unused(text))
    if not mark_hidden(tree, begin, end):
        return layout.texts
    hidden = re.compile(f"{begin}[^{end}]*{end}")
    marked = lay_out(tree).texts
    if len(marked) != len(layout.texts):  # pieces never depend on characters
        raise AssertionError("marking hidden text changed the layout of a page")
    return [_joined(hidden.sub("", text)) if begin in text else text for text in marked]


def clear_hidden(tree: _Element) -> None:
    """Remove hidden text from a tree; the elements stay."""
    begin, end = (chr(code) for code in _unused("".join(tree.itertext())))
    if not mark_hidden(tree, begin, end):
        return
    hidden = re.compile(f"{begin}[^{end}]*{end}")
    for element in tree.iter():
        if element.text and begin in element.text:
            element.text = hidden.sub("", element.text)
        if element.tail and begin in element.tail:
            element.tail = hidden.sub("", element.tail)


def _unused(text: str) -> tuple[int, int]:
    free = (code for code in _PRIVATE if chr(code) not in text)
    return next(free), next(free)


def _joined(text: str) -> str:
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
