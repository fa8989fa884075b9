"""The elements of a page that its reader cannot see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from citewell.retriever.extract.visibility.cascade import Cascade, index_of
from citewell.retriever.extract.visibility.colors import WHITE, Color, read_color
from citewell.retriever.extract.visibility.style_sheets import Declarations, read_declarations
from citewell.retriever.extract.visibility.unseen import (
    INHERITED_PROPERTIES,
    SUBTREE_PROPERTIES,
    hides_all,
    hides_letters,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

UNSEEN = "data-citewell-unseen"
"""The attribute of elements that a browser did not show."""

_PROPERTIES = SUBTREE_PROPERTIES | INHERITED_PROPERTIES
# Names of what is folded until someone opens it, unless it is hidden in ways that nothing opens.
_FOLDED = re.compile(r"accordion|faq|answer|tab|collaps|expand|toggle|less|more|fold|panel|slide", re.I)
_FOR_NOBODY = frozenset({"clip", "clip-path", "left", "right", "text-indent", "font-size", "color"})
_BACKGROUNDS = ("background", "background-color")
_COLORS = ("color", "background", "background-color", "-webkit-text-fill-color")
# Whole pages are hidden until their scripts have run.
_NEVER_SHOWN = frozenset({"noembed", "noframes", "noscript"})  # by browsers that run scripts
_SUSPECT_TAGS = _NEVER_SHOWN | {"dialog", "font"}
_WHOLE = frozenset({"html", "head", "body"})
_KEYFRAMES = re.compile(r"@(?:-webkit-)?keyframes\s+([\w-]+)", re.I)
# Names by which frameworks hide, whose style sheets are at other addresses: Bootstrap, WordPress, Foundation,
# Drupal, HTML5 Boilerplate, Material, GitHub, GOV.UK.
_HIDING_CLASS = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-reader-(?:text|only)|show-for-sr|element-invisible|"
    r"a11y-hidden|assistive-text|cdk-visually-hidden|govuk-visually-hidden|d-none|display-none|is-hidden|"
    r"u-hidden|invisible)(?=\s|$)"
)
# Tailwind's and Bootstrap's classes that show in a wide window what is hidden in a narrow one.
_SHOWING_CLASS = re.compile(
    r"(?:^|\s)(?:d-(?:sm|md|lg|xl|xxl)-|(?:sm|md|lg|xl|2xl):)(?:block|inline|flex|grid|table|contents|visible|not-sr)"
)


class StyledPage:
    """The elements of a page with their styles, and the judgment of them."""

    def __init__(self, tree: _Element) -> None:
        self._cascade = Cascade(tree, _PROPERTIES)
        self._styles: dict[_Element, dict[str, str]] = {}
        elements = self._cascade.elements
        self._has_sheets = any(
            element.tag == "link" and "stylesheet" in (element.get("rel") or "").lower()
            for element in elements
        )
        css = "".join(style.text or "" for style in tree.iter("style")) if self._cascade.rules else ""
        self._animated = frozenset(name.lower() for name in _KEYFRAMES.findall(css))
        self._controlled: frozenset[str] | None = None
        self._known_backgrounds: frozenset[Color] | None = None

    def suspects(self) -> Iterator[_Element]:
        """Yield, in document order, the elements that some style, attribute or name may hide."""
        hiding = [rule for rule in self._cascade.rules if self._may_hide(_texts(rule.declarations))]
        by_key = index_of(hiding)
        for element in self._cascade.elements:
            if element.tag not in _WHOLE and (
                self._is_suspect(element) or any(self._cascade.matching(element, by_key))
            ):
                yield element

    def style(self, element: _Element) -> dict[str, str]:
        """Return the values of an element's own properties."""
        known = self._styles.get(element)
        if known is None:
            known = self._styles[element] = self._cascade.style(element)
            if element.tag == "font":
                if color := element.get("color"):
                    known.setdefault("color", color.lower())
                if element.get("size") in ("0", "-7"):
                    known.setdefault("font-size", "1px")
            if color := element.get("bgcolor"):
                known.setdefault("background-color", color.lower())
        return known

    def hides_all(self, element: _Element) -> bool:
        """Return whether an element is hidden with all that it contains."""
        if element.tag in _NEVER_SHOWN or element.get(UNSEEN) is not None:
            return True
        style = self.style(element)
        if hides_all(style, self._animated):
            return True
        if "display" in style:
            return False
        if element.get("hidden") is not None or (element.tag == "dialog" and element.get("open") is None):
            return True
        names = element.get("class") or ""
        if not (self._has_sheets and _HIDING_CLASS.search(names)) or _SHOWING_CLASS.search(names):
            return False
        return not style.keys() & {"position", "clip", "clip-path", "visibility"}

    def may_appear(self, element: _Element) -> bool:
        """Return whether an element is invisible and has its place on the page, as if it were to appear."""
        style = self.style(element)
        if style.get("display") == "none" or element.get("hidden") is not None:
            return False
        return style.get("visibility") == "hidden" or style.get("opacity") in ("0", "0.0", "0%")

    def unfolds(self, element: _Element) -> bool:
        """Return whether a control of the page shows an element, as those of tabs and questions do."""
        id_ = element.get("id") or ""
        if element.get("role") == "tabpanel" or element.tag == "dd":
            return True
        if id_.startswith("S:") and element.get("hidden") is not None:
            return True  # React moves it into the page (https://react.dev/reference/react-dom/server)
        if (
            _FOLDED.search(f"{element.get('class') or ''} {id_}")
            and not _FOR_NOBODY & self.style(element).keys()
        ):
            return True
        if self._controlled is None:
            self._controlled = frozenset(_controlled(self._cascade.elements))
        near = (element, *element.iterancestors(), *element)
        if any((id_ := one.get("id")) and id_ in self._controlled for one in near[:3] + near[-2:]):
            return True
        before = element.getprevious()
        if before is None and (parent := element.getparent()) is not None:
            before = parent.getprevious()
        return before is not None and any(
            one.get("aria-expanded") is not None or one.tag in ("button", "summary") for one in before.iter()
        )

    def hides_letters(self, element: _Element) -> bool:
        """Return whether the letters of an element cannot be seen."""
        style = self.style(element)
        return hides_letters(style) or self._is_like_its_background(element, style)

    def _is_suspect(self, element: _Element) -> bool:
        attributes = element.attrib
        if not attributes:
            return element.tag in _SUSPECT_TAGS
        if "hidden" in attributes or UNSEEN in attributes or element.tag in _SUSPECT_TAGS:
            return True
        if (names := attributes.get("class")) and _HIDING_CLASS.search(names):
            return True
        own = attributes.get("style")
        if own is None:
            return False
        return self._may_hide(_texts(read_declarations(own)))

    def _may_hide(self, style: dict[str, str]) -> bool:
        style = {name: self._cascade.resolved(value) for name, value in style.items() if name in _PROPERTIES}
        color = read_color(style.get("-webkit-text-fill-color", style.get("color", "")))
        if color is not None and any(color.is_like(one) for one in self._backgrounds()):
            return True
        placed = {"position": "absolute", "overflow": "hidden"} | style
        return hides_all(placed, frozenset()) or hides_letters(style)

    def _backgrounds(self) -> frozenset[Color]:
        """Return the colors of all backgrounds of the page, and white."""
        if self._known_backgrounds is None:
            styles = [rule.declarations for rule in self._cascade.rules]
            styles += [read_declarations(own) for one in self._cascade.elements if (own := one.get("style"))]
            values = [style[name].text for style in styles for name in _BACKGROUNDS if name in style]
            values += [color.lower() for one in self._cascade.elements if (color := one.get("bgcolor"))]
            colors = (read_color(self._cascade.resolved(value)) for value in set(values))
            self._known_backgrounds = frozenset({WHITE, *(color for color in colors if color is not None)})
        return self._known_backgrounds

    def _is_like_its_background(self, element: _Element, style: dict[str, str]) -> bool:
        if not any(name in style for name in _COLORS):
            return False
        color = self._color(element)
        background = self._background(element)
        return color is not None and background is not None and color.is_like(background)

    def _color(self, element: _Element) -> Color | None:
        for each in (element, *element.iterancestors()):
            style = self.style(each)
            text = style.get("-webkit-text-fill-color", style.get("color", ""))
            if text and text not in ("inherit", "currentcolor"):
                return read_color(text)
        return None

    def _background(self, element: _Element) -> Color | None:
        """Return the color behind an element; None if a picture or a style sheet elsewhere may decide it."""
        for each in (element, *element.iterancestors()):
            style = self.style(each)
            given = f"{style.get('background', '')} {style.get('background-image', '')}"
            if "url(" in given or "gradient" in given or style.get("position") in ("absolute", "fixed"):
                return None
            color = read_color(style.get("background-color", style.get("background", "")))
            if color is not None and not color.is_clear:
                return color
            if self._has_sheets and each is not element and each.get("class"):
                return None
        return None if self._has_sheets else WHITE


def _texts(declarations: Declarations) -> dict[str, str]:
    return {name: value.text for name, value in declarations.items()}


def _controlled(elements: list[_Element]) -> Iterator[str]:
    """Yield the ids of the elements that buttons, links and labels of a page show."""
    for element in elements:
        attributes = element.attrib
        for name in ("aria-controls", "data-target", "data-bs-target", "data-toggle-target", "href", "for"):
            value = attributes.get(name, "")
            if name == "aria-controls" or name == "for":
                yield from value.split()
            elif value.startswith("#") and (name != "href" or element.tag == "a"):
                yield value[1:]
