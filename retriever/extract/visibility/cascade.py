"""The values of properties that the style sheets and attributes of a page give to an element."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from citewell.retriever.extract.visibility.selectors import Selector, fits, read_selector, select
from citewell.retriever.extract.visibility.style_sheets import Declarations, read_declarations, read_rules

if TYPE_CHECKING:
    from lxml.etree import _Element

_VARIABLE = re.compile(r"var\(\s*(--[\w-]+)\s*(?:,\s*([^()]*))?\)")
_MOST_PATHS = 1_000  # selectors that cssselect matches in a page
# States that an element is not in when a page opens, and boxes that are not elements.
_OTHER_STATES = re.compile(
    r"::|:(?:hover|focus|active|visited|before|after|target|checked|disabled|invalid|placeholder|selection|host|"
    r"-\w|first-l|fullscreen|open|popover|playing|modal|autofill)"
)
_INLINE = (1 << 30, 0, 0)  # stronger than every selector

Strength = tuple[bool, tuple[int, int, int], int]


class OrderedRule(NamedTuple):
    """A rule with its place in the page."""

    order: int
    selector: Selector
    declarations: Declarations


RulesByKey = Mapping[str, list[OrderedRule]]


class Cascade:
    """The styles of a page, of which only some properties matter.

    Style sheets at other addresses are not fetched.
    """

    def __init__(self, tree: _Element, properties: frozenset[str]) -> None:
        """Read the style sheets inside the page."""
        self.elements = [element for element in tree.iter() if isinstance(element.tag, str)]
        css = "\n".join(style.text or "" for style in tree.iter("style") if _is_for_screens(style))
        rules = read_rules(css) if css else []
        names = _names_of(self.elements) if rules else frozenset()
        self.rules = [
            OrderedRule(order, selector, rule.declarations)
            for order, rule in enumerate(rules)
            if not properties.isdisjoint(rule.declarations)
            and not _OTHER_STATES.search(rule.selector)
            and (selector := read_selector(rule.selector)).names <= names
        ]
        self._tree = tree
        self._variables = {
            name: value.text
            for rule in rules
            for name, value in rule.declarations.items()
            if name.startswith("--")
        }
        self._by_key = index_of(self.rules)
        self._selected: dict[str, frozenset[_Element]] = {}

    def matching(self, element: _Element, by_key: RulesByKey) -> Iterator[OrderedRule]:
        """Yield the rules for an element, of those in an index."""
        if not by_key:
            return
        attributes = element.attrib
        keys = [element.tag, "*"]
        if attributes:
            get = attributes.get
            keys += [f".{name}" for name in get("class", "").split()]
            keys.append(f"#{get('id', '')}")
        for key in keys:
            for rule in by_key.get(key, ()):
                if self._is_for(rule.selector, element):
                    yield rule

    def style(self, element: _Element) -> dict[str, str]:
        """Return the values of an element's properties by the rules and its own attribute."""
        best: dict[str, tuple[Strength, str]] = {}
        for rule in self.matching(element, self._by_key):
            self._add(best, rule.declarations, rule.selector.specificity, rule.order)
        if own := element.get("style"):
            self._add(best, read_declarations(own), _INLINE, 0)
        return {name: value for name, (_, value) in best.items()}

    def resolved(self, text: str) -> str:
        """Return a value with its variables replaced, as far as they are known."""
        for _ in range(3):
            if "var(" not in text:
                break
            text = _VARIABLE.sub(lambda found: self._variables.get(found[1], found[2] or ""), text)
        return text

    def _is_for(self, selector: Selector, element: _Element) -> bool:
        if selector.compounds:
            return fits(element, selector.compounds)
        known = self._selected.get(selector.text)
        if known is None:
            known = frozenset()
            if len(self._selected) < _MOST_PATHS:
                known = self._selected[selector.text] = select(selector.text, self._tree)
        return element in known

    def _add(
        self,
        best: dict[str, tuple[Strength, str]],
        declarations: Declarations,
        specificity: tuple[int, int, int],
        order: int,
    ) -> None:
        for name, value in declarations.items():
            strength = (value.important, specificity, order)
            if name not in best or strength >= best[name][0]:
                best[name] = (strength, self.resolved(value.text))


def index_of(rules: Iterable[OrderedRule]) -> RulesByKey:
    """Return rules by the key of their selectors."""
    by_key: defaultdict[str, list[OrderedRule]] = defaultdict(list)
    for rule in rules:
        by_key[rule.selector.key].append(rule)
    return by_key


def _names_of(elements: list[_Element]) -> frozenset[str]:
    names: set[str] = set()
    for element in elements:
        attributes = element.attrib
        if attributes:
            names.update(f".{name}" for name in attributes.get("class", "").split())
            names.add(f"#{attributes.get('id', '')}")
    return frozenset(names)


def _is_for_screens(style: _Element) -> bool:
    media = (style.get("media") or "").lower()
    return not media or "screen" in media or "all" in media
