"""Reading of Word documents."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from citewell.retriever.extract.document import Block, ExtractedDocument, Outline
from citewell.retriever.extract.office.numbering import Numbering
from citewell.retriever.extract.office.package import Package, explained, own_title
from citewell.retriever.extract.office.word_styles import W, WordStyles
from citewell.retriever.extract.table import table_blocks

if TYPE_CHECKING:
    from docx.document import Document
    from lxml.etree import _Element

_FOOTNOTES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# What is not part of the text as it stands: deletions, moves away, properties, and copies for old programs.
_SKIPPED = frozenset({f"{W}del", f"{W}moveFrom", f"{W}pPr", f"{W}rPr", f"{W}instrText", _FALLBACK})
_BREAKS = {f"{W}br": "\n", f"{W}cr": "\n", f"{W}tab": "\t", f"{W}noBreakHyphen": "-"}
_AROUND = frozenset({f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}moveTo", f"{W}customXml", f"{W}smartTag"})


def read_docx(body: bytes, package: Package) -> ExtractedDocument:
    """Read the paragraphs, lists, tables and footnotes of a Word document under their headings.

    [python-docx](https://python-docx.readthedocs.io) opens the file. Tracked insertions are read and tracked
    deletions are not. The title is the paragraph in the style Title, the title in the properties, or the
    first heading. Raises `ExtractionError` for a document that is broken.
    """
    import docx

    package.check_entities()
    with explained("docx"):
        document = docx.Document(io.BytesIO(body))
        reader = _WordReader(document)
        title, headings = reader.titles()
        title = title or own_title(document.core_properties.title) or next(iter(headings), "")
        author = " ".join((document.core_properties.author or "").split())
        blocks = tuple(reader.blocks(title))
    return ExtractedDocument(title, blocks, "" if author == "python-docx" else author)


class _WordReader:
    def __init__(self, document: Document) -> None:
        self._body = document.element.body
        self._styles = WordStyles(document.styles.element)
        self._numbering = Numbering(document)
        self._notes = _footnotes(document)

    def titles(self) -> tuple[str, list[str]]:
        """Return the text in the style Title, and all headings."""
        title, headings = "", []
        for element in _content(self._body):
            if element.tag == f"{W}p":
                style = self._styles.of(element)
                if style.is_title and not title:
                    title = " ".join(_text(element).split())
                elif style.level and (text := " ".join(_text(element).split())):
                    headings.append(text)
        return title, headings

    def blocks(self, title: str) -> Iterator[Block]:
        outline = Outline(title)
        items: list[str] = []  # of the list that is being read
        for element in _content(self._body):
            is_paragraph = element.tag == f"{W}p"
            text = _text(element).strip() if is_paragraph else ""
            if is_paragraph and not text:
                continue
            style = self._styles.of(element) if is_paragraph else None
            mark = self._numbering.mark(element, style) if style and not style.level else ""
            if mark:
                items.append(mark + " ".join(text.split()))
            elif items:
                yield Block("\n".join(items), outline.path)
                items = []
            if style and style.level:
                outline.enter(style.level, text)
            elif style and not mark and not (style.is_title and " ".join(text.split()) == title):
                yield Block(text, outline.path)
            elif not is_paragraph:
                yield from table_blocks(_rows(element), outline.path)
            for note in element.iter(f"{W}footnoteReference"):
                if found := self._notes.get(note.get(f"{W}id")):
                    yield Block(f"Footnote: {found}", outline.path)
        if items:
            yield Block("\n".join(items), outline.path)


def _content(parent: _Element) -> Iterator[_Element]:
    """Yield paragraphs and tables in order, also those in content controls and insertions."""
    for element in parent:
        if element.tag in (f"{W}p", f"{W}tbl"):
            yield element
        elif element.tag in _AROUND:
            yield from _content(element)


def _text(element: _Element) -> str:
    """Return the text of a paragraph; that of a text box in it stands on lines of its own."""
    parts: list[str] = []
    waiting = list(reversed(element))
    while waiting:
        part = waiting.pop()
        if part is element or part.tag in _SKIPPED:
            continue
        if part.tag == f"{W}t":
            parts.append(part.text or "")
        elif part.tag in _BREAKS:
            parts.append(_BREAKS[part.tag])
        else:
            if part.tag == f"{W}p":
                parts.append("\n")
            waiting.extend(reversed(part))
    return "".join(parts)


def _rows(table: _Element) -> Iterator[list[str]]:
    for row in table.iter(f"{W}tr"):
        if next(row.iterancestors(f"{W}tbl")) is table:  # not a row of a table in a cell
            cells = [cell for cell in row.iter(f"{W}tc") if next(cell.iterancestors(f"{W}tr")) is row]
            yield [" ".join(" ".join(map(_text, cell.iter(f"{W}p"))).split()) for cell in cells]


def _footnotes(document: Document) -> dict[str | None, str]:
    from lxml import etree

    for relation in document.part.rels.values():
        if relation.reltype == _FOOTNOTES and not relation.is_external:
            root = etree.fromstring(relation.target_part.blob, etree.XMLParser(resolve_entities=False))
            notes = root.iter(f"{W}footnote")
            return {note.get(f"{W}id"): " ".join(_text(note).split()) for note in notes}
    return {}
