"""Style sheets inside a page, as rules in the order of their strength.

It reads what hides text, and no more: https://www.w3.org/TR/css-syntax-3/ and
https://www.w3.org/TR/css-cascade-4/ without layers, imports and units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[{};]|@', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_DECLARATION = re.compile(r"\s*(-{0,2}[\w-]+)\s*:\s*((?:[^;\"'(]|\"[^\"]*\"|'[^']*'|\([^)]*\)?)*)(?:;|$)?")
_IMPORTANT = re.compile(r"\s*!\s*important\s*$", re.I)
_FEATURE = re.compile(r"\(\s*(min|max)-width\s*:\s*([\d.]+)(px|em|rem)\s*\)", re.I)
_NOT_SCREEN = re.compile(r"\b(?:print|speech|tty|tv|not)\b", re.I)
_WIDTH = 1280  # pixels of the window that media queries ask for
_MOST_BYTES = 1_000_000
_MOST_RULES = 20_000


class Value(NamedTuple):
    """The value of a property, in lower case, and whether it is important."""

    text: str
    important: bool


Declarations = dict[str, Value]


class StyleRule(NamedTuple):
    """A selector with its declarations."""

    selector: str
    declarations: Declarations


def read_rules(css: str) -> list[StyleRule]:
    """Return the rules of a style sheet that hold for a screen, one per selector."""
    text = _COMMENT.sub(" ", css[:_MOST_BYTES])
    found: list[StyleRule] = []
    for selectors, block in _blocks(text):
        declarations = read_declarations(block)
        if declarations:
            found += [StyleRule(selector, declarations) for selector in _split(selectors)]
        if len(found) > _MOST_RULES:
            break
    return found


@lru_cache(maxsize=10_000)  # of attributes, which repeat
def read_declarations(block: str) -> Declarations:
    """Return the declarations of a rule or of an attribute `style`."""
    block = _ESCAPE.sub(_unescaped, _COMMENT.sub(" ", block))
    found: Declarations = {}
    for name, value in _DECLARATION.findall(block):
        text = _IMPORTANT.sub("", value)
        known = found.get(name.lower())
        declared = Value(" ".join(text.lower().split()), important=text != value)
        if known is None or declared.important >= known.important:
            found[name.lower()] = declared
    return found


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and the declarations of all rules, also within groups that hold for a screen."""
    opened: list[tuple[str, int]] = []  # the prelude and the start of each open block
    skipped = 0  # the depth from which blocks do not hold
    start = 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == "{":
            prelude = text[start : token.start()].strip()
            opened.append((prelude, token.end()))
            if not skipped and prelude.startswith("@") and not _holds(prelude):
                skipped = len(opened)
            start = token.end()
        elif sign == "}":
            if opened:
                prelude, begin = opened.pop()
                if not skipped and not prelude.startswith("@"):
                    yield prelude, text[begin : token.start()].partition("{")[0]
                if len(opened) < skipped:
                    skipped = 0
            start = token.end()
        elif sign == ";" and not (opened and not opened[-1][0].startswith("@")):
            start = token.end()  # after @import and the like


def _holds(prelude: str) -> bool:
    name = re.match(r"@[\w-]*", prelude)
    match name[0].lower() if name else "":
        case "@media":
            return any(_media_holds(query) for query in prelude[6:].split(","))
        case "@supports" | "@layer" | "@container" | "@scope" | "@document" | "@starting-style":
            return "not" not in prelude.lower().split()
    return False


def _media_holds(query: str) -> bool:
    if _NOT_SCREEN.search(query):
        return False
    for kind, number, unit in _FEATURE.findall(query):
        pixels = float(number) * (1 if unit.lower() == "px" else 16)
        if (kind.lower() == "min") != (pixels <= _WIDTH) and pixels != _WIDTH:
            return False
    return "(" not in _FEATURE.sub("", query)  # what the device prefers is not known


def _split(selectors: str) -> list[str]:
    depth, start, found = 0, 0, []
    for index, sign in enumerate(selectors):
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth <= 0:
            found.append(selectors[start:index].strip())
            start = index + 1
    return [one for one in (*found, selectors[start:].strip()) if one]


def _unescaped(found: re.Match[str]) -> str:
    if not found[1]:
        return found[2]
    number = int(found[1], 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
