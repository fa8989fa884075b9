"""Marks around the text of a page that its reader cannot see, so that it is not evidence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from citewell.retriever.extract.visibility.hidden import StyledPage
from citewell.retriever.extract.visibility.unseen import INHERITED_PROPERTIES

if TYPE_CHECKING:
    from lxml.etree import _Element

# A long text that is so much of the page is not hidden, but waits for a script; so is nearly all of a page.
_MOST = 0.3
_LONG = 1_000  # characters
_NEARLY_ALL = 0.9
_UNREAD = frozenset({"script", "style", "template", "title", "noscript", "svg", "option", "textarea"})


def mark_hidden(tree: _Element, begin: str, end: str) -> bool:
    """Put the text of hidden elements between two characters; return whether there is any.

    It is hidden by attributes, by style sheets inside the page, or by usual names of classes; what is hidden
    by style sheets at other addresses is known where the page is rendered. Two kinds of hidden text are not
    marked: that which a control of the page unfolds, and that which is most of the page, since a script will
    show it.
    """
    page = StyledPage(tree)
    suspects = list(page.suspects())
    if not suspects:
        return False
    marked: set[_Element] = set()
    length = _length(tree)
    most = min(max(_MOST * length, _LONG), _NEARLY_ALL * length)
    hidden = [one for one in suspects if page.hides_all(one) and not page.unfolds(one)]
    letters = [one for one in suspects if not page.hides_all(one) and page.hides_letters(one)]
    waiting = {one for one in (*hidden, *letters) if page.may_appear(one)}
    if sum(_length(one) for one in _outermost(waiting)) < most:
        waiting = set()
    for element in hidden:
        if element not in waiting and _length(element) < most:
            for one in element.iter():
                _mark(one, begin, end, marked, is_inside=one is not element)
    for element in letters:
        if element not in waiting and _length(element) < most:
            _mark_letters(page, element, begin, end, marked)
    return bool(marked)


def _outermost(elements: set[_Element]) -> Iterator[_Element]:
    return (one for one in elements if elements.isdisjoint(one.iterancestors()))


def _mark(element: _Element, begin: str, end: str, marked: set[_Element], *, is_inside: bool) -> None:
    if element not in marked:
        marked.add(element)
        element.attrib.pop("alt", None)
        if (text := element.text) and not text.isspace():
            element.text = f"{begin}{text}{end}"
    if is_inside and (tail := element.tail) and not tail.isspace() and begin not in tail:
        element.tail = f"{begin}{tail}{end}"


def _mark_letters(page: StyledPage, element: _Element, begin: str, end: str, marked: set[_Element]) -> None:
    """Mark the text of an element, and of those within it that do not have a style of their own."""
    _mark(element, begin, end, marked, is_inside=False)
    for child in element:
        if isinstance(child.tag, str) and not INHERITED_PROPERTIES & page.style(child).keys():
            _mark_letters(page, child, begin, end, marked)
        if (tail := child.tail) and not tail.isspace() and begin not in tail:
            child.tail = f"{begin}{tail}{end}"


def _length(element: _Element) -> int:
    """Return the number of letters within an element, of what is read."""
    return sum(
        len((one.text or "").strip() if one.tag not in _UNREAD else "") + len((one.tail or "").strip())
        for one in element.iter()
        if isinstance(one.tag, str)
    )
