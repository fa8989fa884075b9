"""The marks of list items in a Word document: a dash, or a number that is counted here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.retriever.extract.office.word_styles import W, WordStyle

if TYPE_CHECKING:
    from docx.document import Document
    from lxml.etree import _Element

_NUMBERING = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"


class Numbering:
    """The lists of one document, whose items are counted in the order in which they are read."""

    def __init__(self, document: Document) -> None:
        self._formats: dict[tuple[str | None, str], str] = {}
        self._counts: dict[tuple[str, int], int] = {}
        parts = [part for part in document.part.rels.values() if part.reltype == _NUMBERING]
        if parts and not parts[0].is_external:
            self._read(parts[0].target_part.element)

    def mark(self, paragraph: _Element, style: WordStyle) -> str:
        """Return the mark of a list item, indented by its level; nothing for another paragraph."""
        own = paragraph.find(f"{W}pPr/{W}numPr")
        numbering = own if own is not None else style.numbering
        list_id = _value(numbering, "numId")
        if numbering is None or not list_id or list_id == "0":  # 0 takes a paragraph out of its list
            return ""
        depth = _value(numbering, "ilvl") or "0"
        level = int(depth) if depth.isdigit() else 0
        key = (list_id, level)
        self._counts[key] = self._counts.get(key, 0) + 1
        for other in [other for other in self._counts if other[0] == list_id and other[1] > level]:
            del self._counts[other]
        is_bullet = self._formats.get((list_id, depth), "bullet") in ("bullet", "none")
        return "  " * level + ("- " if is_bullet else f"{self._counts[key]}. ")

    def _read(self, root: _Element) -> None:
        abstract = {each.get(f"{W}abstractNumId"): each for each in root.iter(f"{W}abstractNum")}
        for each in root.iter(f"{W}num"):
            found = abstract.get(_value(each, "abstractNumId"))
            for level in found.iter(f"{W}lvl") if found is not None else ():
                kind = _value(level, "numFmt") or "bullet"
                self._formats[each.get(f"{W}numId"), level.get(f"{W}ilvl") or "0"] = kind


def _value(element: _Element | None, name: str) -> str | None:
    child = element.find(f"{W}{name}") if element is not None else None
    value: str | None = child.get(f"{W}val") if child is not None else None
    return value
