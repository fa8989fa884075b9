"""The styles by which a page hides text, as judged from the values of an element's properties."""

from __future__ import annotations

import re
from collections.abc import Mapping

from citewell.retriever.extract.visibility.colors import read_color

Style = Mapping[str, str]

_LENGTH = re.compile(
    r"(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)(px|em|rem|ex|ch|vw|vh|vmin|vmax|pt|pc|in|cm|mm|%)?"
)
_PIXELS = {
    **{"": 1.0, "px": 1.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 12.8, "vh": 8.0},
    **{"vmin": 8.0, "vmax": 12.8, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 37.8, "mm": 3.78, "%": 10.0},
}
_FAR = 400.0  # pixels outside of the window
_SMALL = 2.0  # pixels: the size of a letter or a box that cannot be read
_FAINT = 0.1  # opacity
_ZERO = r"0(?:px|%)?"
_POINT = re.compile(
    r"inset\(\s*(?:50|[6-9]\d|100)%|circle\(\s*0(?:px|%)?[\s)]|"
    r"rect\(\s*[01](?:px)?[ ,]+(?:auto|[01](?:px)?)[ ,]+|"
    rf"polygon\(\s*{_ZERO}\s+{_ZERO}\s*(?:,\s*{_ZERO}\s+{_ZERO}\s*)*\)"
)
_NO_SCALE = re.compile(r"scale(?:x|y|3d)?\(\s*(?:0(?:\.0\d*)?|\.0\d*)\s*[,)]")
_SIDEWAYS = re.compile(r"rotate[xy]\(\s*(?:90|270|-90)deg")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^()]*)\)")
_PLACED = {"absolute", "fixed", "relative", "sticky"}

SUBTREE_PROPERTIES = frozenset(
    "display opacity filter content-visibility position left right top bottom inset margin "  # noqa: SIM905
    "margin-left margin-top clip clip-path transform translate scale width height max-width max-height "
    "overflow overflow-x overflow-y zoom animation animation-name".split()
)
"""Properties that hide an element with all that it contains."""
INHERITED_PROPERTIES = frozenset(
    "visibility font-size font color text-indent background background-color "  # noqa: SIM905
    "background-image background-clip -webkit-background-clip -webkit-text-fill-color letter-spacing".split()
)
"""Properties that hide the text of an element, and of those within that have no value of their own."""


def pixels(value: str) -> float | None:
    """Return the first length in a value, in pixels of a usual window; None without one."""
    found = _LENGTH.match(value.strip())
    return float(found[1]) * _PIXELS[found[2] or ""] if found else None


def hides_all(style: Style, animated: frozenset[str]) -> bool:
    """Return whether a style hides its element with all that it contains.

    `animated` has the names of the page's animations, which may show it later.
    """
    get = style.get
    if get("display") == "none" or get("content-visibility") == "hidden" or get("zoom") in ("0", "0%"):
        return True
    if _is_clipped(style) or _is_outside(style) or _is_tiny(style):
        return True
    names = set(re.findall(r"[\w-]+", f"{get('animation', '')} {get('animation-name', '')}"))
    return not names & animated and (_is_faint(style) or _is_folded(style))


def hides_letters(style: Style) -> bool:
    """Return whether a style makes the letters of its element too small to see, or moves them away."""
    get = style.get
    if get("visibility") in ("hidden", "collapse"):
        return True
    size = pixels(get("font-size", ""))
    if size is None and (
        found := re.search(r"(?:^|\s)([\d.]+(?:px|em|rem|pt|%)?)\s*(?:/|\s)", get("font", "") + " ")
    ):
        size = pixels(found[1])
    if size is not None and size < _SMALL:
        return True
    indent = pixels(get("text-indent", ""))
    if indent is not None and abs(indent) > _FAR:
        return True
    spacing = pixels(get("letter-spacing", ""))
    if spacing is not None and spacing <= -16:
        return True
    fill = read_color(get("-webkit-text-fill-color", get("color", "")))
    return fill is not None and fill.is_clear and not _shows_background(style)


def _shows_background(style: Style) -> bool:
    return "text" in style.get("background-clip", "") + style.get("-webkit-background-clip", "")


def _is_faint(style: Style) -> bool:
    # Libraries that show a part once it is scrolled to move it at the same time.
    if "matrix(" in style.get("transform", "") or "translate" in style.get("transform", ""):
        return False
    opacity = style.get("opacity", "")
    found = _LENGTH.match(opacity)
    if found and float(found[1]) / (100 if found[2] == "%" else 1) < _FAINT:
        return True
    return re.search(r"opacity\(\s*0?\.?0*%?\s*\)", style.get("filter", "")) is not None


def _is_folded(style: Style) -> bool:
    transform = style.get("transform", "")
    if _NO_SCALE.search(transform) or _SIDEWAYS.search(transform):
        return True
    return style.get("scale", "").split(" ")[0] in ("0", "0%")


def _is_clipped(style: Style) -> bool:
    if _POINT.search(style.get("clip-path", "")):
        return True
    return style.get("position") in ("absolute", "fixed") and _POINT.search(style.get("clip", "")) is not None


def _is_outside(style: Style) -> bool:
    get = style.get
    moves = [part for value in _MOVED.findall(get("transform", "")) for part in value.split(",")]
    shifts = [*moves[:2], *get("translate", "").split()[:2]]
    if any((shift := pixels(value)) is not None and shift < -_FAR for value in shifts if "%" not in value):
        return True
    margin = get("margin", "").split()
    across = pixels(get("margin-left", margin[-1] if margin else "")) or 0.0
    down = pixels(get("margin-top", margin[0] if margin else "")) or 0.0
    if get("position") in _PLACED:
        inset = get("inset", "").split()
        left, top = get("left", inset[-1] if inset else ""), get("top", inset[0] if inset else "")
        across += _far(left, 12.8)
        down += _far(top, 8.0)
        others = (_far(get(name, ""), 12.8) for name in ("right", "bottom"))
        if any(far < -_FAR for far in others) and get("margin-left") is None:
            return True
        if get("position") == "fixed" and across > 4 * _FAR:
            return True
    return across < -_FAR or down < -_FAR


def _far(value: str, percent: float) -> float:
    """Return a distance in pixels, 0 if there is none; `percent` is that of the window."""
    number = pixels(value) or 0.0
    return number / _PIXELS["%"] * percent if value.strip().endswith("%") else number


def _is_tiny(style: Style) -> bool:
    get = style.get
    overflows = f"{get('overflow', '')} {get('overflow-x', '')} {get('overflow-y', '')}"
    if "hidden" not in overflows and "clip" not in overflows:
        return False
    sizes = (get(name, "") for name in ("width", "height", "max-width", "max-height"))
    return any((size := pixels(value)) is not None and size < _SMALL for value in sizes)
