"""The styles of a Word document: which of them are headings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)  # the same in documents of every language
_DEEPEST = 20  # styles on which a style is based


class WordStyle(NamedTuple):
    """The role of a style: the level of a heading, from 1, or 0; the numbering that it brings, if any."""

    level: int = 0
    is_title: bool = False
    numbering: _Element | None = None


class WordStyles:
    """The styles of one document by their ids."""

    def __init__(self, styles: _Element) -> None:
        self._elements = {style.get(f"{W}styleId"): style for style in styles.iter(f"{W}style")}
        self._known: dict[str | None, WordStyle] = {}

    def of(self, paragraph: _Element) -> WordStyle:
        """Return the role of a paragraph, by its own outline level or else by its style."""
        properties = paragraph.find(f"{W}pPr")
        if properties is None:
            return WordStyle()
        named = properties.find(f"{W}pStyle")
        style = self._style(named.get(f"{W}val")) if named is not None else WordStyle()
        level = _outline_level(properties)
        return style if level is None else style._replace(level=level)

    def _style(self, id_: str | None) -> WordStyle:
        if id_ not in self._known:
            self._known[id_] = self._find(id_)
        return self._known[id_]

    def _find(self, id_: str | None) -> WordStyle:
        numbering = None
        for _ in range(_DEEPEST):
            style = self._elements.get(id_)
            if style is None:
                break
            properties = style.find(f"{W}pPr")
            if numbering is None and properties is not None:
                numbering = properties.find(f"{W}numPr")
            name = style.find(f"{W}name")
            named = (name.get(f"{W}val") or "") if name is not None else ""
            if found := _HEADING.fullmatch(named):
                return WordStyle(int(found[1]), numbering=numbering)
            if named.lower() == "title":
                return WordStyle(is_title=True)
            level = _outline_level(properties) if properties is not None else None
            if level:
                return WordStyle(level, numbering=numbering)
            based = style.find(f"{W}basedOn")
            id_ = based.get(f"{W}val") if based is not None else None
        return WordStyle(numbering=numbering)


def _outline_level(properties: _Element) -> int | None:
    """Return the level of a heading, 0 for text, or None if nothing is said."""
    level = properties.find(f"{W}outlineLvl")
    value = level.get(f"{W}val") if level is not None else None
    if value is None or not value.isdigit():
        return None
    return int(value) + 1 if int(value) < 9 else 0
