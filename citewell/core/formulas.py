r"""Formulas that a model writes in TeX, as `$…$`, `$$…$$`, `\(…\)` or `\[…\]`: found, and as MathML."""

from __future__ import annotations

import re
from functools import cache
from html import escape, unescape
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.text import squeeze

if TYPE_CHECKING:
    from math_core import LatexToMathML

_LONGEST = 1000  # characters
_DEEPEST = 40  # braces; the converter recurses, and the stack of a thread is limited
_INNER = r"[^\\$`\n]|\n(?!\s*\n)|\\[^`]"
# As in Pandoc (https://pandoc.org/MANUAL.html#math), the dollar signs of `$5 and $10` are no delimiters; and
# `\[1\]` is an escaped mark.
_FORMULA = re.compile(
    rf"""(?<!\\)(?:
    \$\$(?P<dollars>(?:{_INNER}){{1,{_LONGEST}}}?)\$\$
    | \\\[(?!\s*\d[\d\s,;]*\\\])(?P<brackets>(?:{_INNER}|\$){{1,{_LONGEST}}}?)\\\]
    | \\\((?P<parentheses>(?:{_INNER}|\$){{1,{_LONGEST}}}?)\\\)
    | (?<![\w$])\$(?=\S)(?P<inline>(?:{_INNER}){{1,{_LONGEST}}}?)(?<=\S)\$(?![\w$])
    )""",
    re.VERBOSE,
)
_CODE = r"(?<![`\\])(?P<code>(?P<ticks>`+)(?!`)(?:.|\n)+?(?<!`)(?P=ticks)(?!`))"
_CODE_OR_FORMULA = re.compile(f"{_CODE}|{_FORMULA.pattern}", re.VERBOSE)
_UNFINISHED = re.compile(r"(?<!\\)(?:\$\$|\\\[(?!\s*\d[\d\s,;]*\\\]))")
# Between the dollar signs of `$5 a day (in US$)` or `$5 [1] or 6$`.
_PROSE = re.compile(r"[^\\]*(?:\d\s+[A-Za-z]{2}|[A-Za-z]{2}\s+[A-Za-z]{2}|\s\[\d)[^\\]*")
_MACRO = re.compile(r"\\(?:[a-z]*def|[a-z]*newcommand|let)(?![A-Za-z])")
_HELD = re.compile("\ue000(\\d+)\ue001")
_HOLDERS = re.compile("[\ue000\ue001]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")

_ELEMENTS = frozenset(
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable "  # noqa: SIM905
    "mtr mtd mmultiscripts mprescripts mpadded mphantom menclose".split()
)
_ATTRIBUTES = frozenset(
    "accent accentunder display displaystyle form largeop linethickness lspace mathvariant maxsize minsize "  # noqa: SIM905
    "movablelimits notation rspace scriptlevel separator stretchy symmetric width".split()
)
_VALUE = re.compile(r"[a-z]+|\d?(?:\.\d+)?(?:em|ex|pt)?")  # no size that covers other parts of a page
_ALIGNED = re.compile(r"text-align: (left|right)")
_ENTITY = re.compile(r"&(?!(?:lt|gt|amp|quot|apos);)\w+;")


class Formula(NamedTuple):
    """A formula in a text, as it was written: its TeX, and whether it has a line of its own."""

    source: str
    tex: str
    is_display: bool


def formula_at(text: str, place: int) -> Formula | None:
    """Return the formula that begins at a place of a text; None for prices and other prose."""
    found = _FORMULA.match(text, place)
    return None if found is None else _formula(found)


def held(text: str, *, code: bool = False) -> tuple[str, list[str]]:
    """Return a text with a sign in place of each formula, and what `restored` puts there, on one line.

    With `code`, code within a line is held too.
    """
    sources: list[str] = []

    def hold(found: re.Match[str]) -> str:
        if not (code and found["code"]) and _formula(found) is None:
            return found[0]
        sources.append(squeeze(found[0]))
        return f"\ue000{len(sources) - 1}\ue001"

    return (_CODE_OR_FORMULA if code else _FORMULA).sub(hold, _HOLDERS.sub("", text)), sources


def restored(text: str, sources: list[str]) -> str:
    """Return a part of a text of `held` with what was held there."""
    return _HELD.sub(lambda sign: sources[int(sign[1])], text)


def stands_alone(text: str) -> bool:
    """Return whether a text is a formula with a line of its own."""
    found = formula_at(text, 0)
    return found is not None and found.is_display and not text[len(found.source) :].strip(" .,;:")


def before_unfinished(text: str) -> str:
    """Return a text without a formula with a line of its own that has begun and not ended."""
    begun = _UNFINISHED.search(_FORMULA.sub(lambda found: " " * len(found[0]), text))
    return text[: begun.start()] if begun else text


def without_tags(source: str) -> str:
    """Return a formula without what a Markdown renderer that knows no formulas takes for a link or HTML."""
    return _TAG.sub(r"\\lt ", source.replace("](", "] ("))


def mathml(formula: Formula) -> str:
    """Return a formula as MathML Core (https://www.w3.org/TR/mathml-core/); an invalid one as it was written.

    No element or attribute of the result acts, loads anything, or leaves the place of the formula.
    """
    from lxml import etree
    from math_core import LatexError

    deepest = depth = 0
    for sign in formula.tex:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if deepest > _DEEPEST or _MACRO.search(formula.tex):
        return escape(formula.source)
    try:
        converted = _converter().convert_with_local_state(formula.tex, displaystyle=formula.is_display)
        root = etree.fromstring(_ENTITY.sub(lambda entity: unescape(entity[0]), converted))
    except (LatexError, etree.XMLSyntaxError):
        return escape(formula.source)
    for element in root.iter():
        if element.tag not in _ELEMENTS:
            return escape(formula.source)
        kept = {
            name: value
            for name, value in element.attrib.items()
            if name in _ATTRIBUTES and _VALUE.fullmatch(value)
        }
        aligned = _ALIGNED.search(element.get("style", ""))
        element.attrib.clear()
        element.attrib.update(kept | ({"class": aligned[1]} if aligned else {}))
    return str(etree.tostring(root, encoding="unicode"))


def _formula(found: re.Match[str]) -> Formula | None:
    kind = str(found.lastgroup)
    tex = found[kind].strip()
    brackets = sum((sign in "([{") - (sign in ")]}") for sign in tex)
    if not tex or _PROSE.fullmatch(tex) or (brackets and "\\" not in tex):
        return None
    return Formula(found[0], tex, kind in ("dollars", "brackets"))


@cache
def _converter() -> LatexToMathML:
    from math_core import LatexToMathML

    return LatexToMathML(fancy_error=False, max_expansions=20)  # some commands of its own are macros
