"""Reading of OpenDocument texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.document import Block, ExtractedDocument, Outline
from citewell.retriever.extract.office.package import Package, encrypted, explained, own_title
from citewell.retriever.extract.table import table_blocks

if TYPE_CHECKING:
    from lxml.etree import _Element

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT = f"{{{_OASIS}text:1.0}}"
_TABLE = f"{{{_OASIS}table:1.0}}"
_OFFICE = f"{{{_OASIS}office:1.0}}"
_STYLE = f"{{{_OASIS}style:1.0}}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_SKIPPED = frozenset({f"{_TEXT}tracked-changes", f"{_TEXT}note", f"{_OFFICE}annotation"})
_MANIFEST = "META-INF/manifest.xml"
_MOST_SPACES = 100
_MOST_CELLS = 500  # that one cell may be repeated


def read_odt(package: Package) -> ExtractedDocument:
    """Read the paragraphs, lists, tables and footnotes of an OpenDocument text under their headings.

    The title is the paragraph in the style Title, the title in the properties, or the first heading. Raises
    `ExtractionError` for a document that is broken or needs a password.
    """
    if _MANIFEST in package.names and b"encryption-data" in package.read(_MANIFEST):
        raise encrypted()
    with explained("odt"):
        content = package.xml("content.xml")
        body = content.find(f"{_OFFICE}body/{_OFFICE}text")
        if body is None:
            raise ExtractionError("the OpenDocument text is broken (it has no text)")
        meta = package.xml("meta.xml") if "meta.xml" in package.names else None
        titles = _title_styles(content)
        named = (_text(each) for each in body.iter(f"{_TEXT}p") if each.get(f"{_TEXT}style-name") in titles)
        headings = (_text(each) for each in body.iter(f"{_TEXT}h"))
        title = next(filter(None, named), "") or own_title(_property(meta, _TITLE))
        title = title or next(filter(None, headings), "")
        blocks = tuple(block for block in _blocks(body, Outline(title)) if block.text != title)
    return ExtractedDocument(title, blocks, _property(meta, _CREATOR))


def _title_styles(content: _Element) -> set[str | None]:
    """Return the names of the style Title and of the styles made from it."""
    made = content.iter(f"{_STYLE}style")
    return {"Title"} | {
        style.get(f"{_STYLE}name") for style in made if style.get(f"{_STYLE}parent-style-name") == "Title"
    }


def _property(meta: _Element | None, name: str) -> str:
    found = next(meta.iter(name), None) if meta is not None else None
    return " ".join((found.text or "").split()) if found is not None else ""


def _blocks(parent: _Element, outline: Outline) -> Iterator[Block]:
    for element in parent:
        if element.tag in _SKIPPED:
            continue
        if element.tag == f"{_TEXT}h":
            level = element.get(f"{_TEXT}outline-level", "1")
            outline.enter(int(level) if level.isdigit() else 1, _text(element))
        elif element.tag == f"{_TEXT}p":
            if text := _text(element):
                yield Block(text, outline.path)
        elif element.tag == f"{_TEXT}list":
            yield Block("\n".join(_items(element, 0)), outline.path)
        elif element.tag == f"{_TABLE}table":
            yield from table_blocks(_rows(element), outline.path)
        elif isinstance(element.tag, str):  # a section, a frame, an index
            yield from _blocks(element, outline)
            continue
        for note in element.iter(f"{_TEXT}note-body"):
            yield Block(f"Footnote: {' '.join(_text(each) for each in note)}", outline.path)


def _items(items: _Element, depth: int) -> Iterator[str]:
    for item in items:
        for number, part in enumerate(item):
            if part.tag == f"{_TEXT}list":
                yield from _items(part, depth + 1)
            elif text := _text(part):
                yield "  " * depth + ("  " if number else "- ") + " ".join(text.split())


def _rows(table: _Element) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
                times = min(int(repeated), _MOST_CELLS) if repeated.isdigit() else 1
                cells += [" ".join(" ".join(_text(part) for part in cell).split())] * times
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _text(element: _Element) -> str:
    """Return the text of a paragraph, with its line breaks, and without notes and comments."""
    parts: list[str] = []

    def add(node: _Element) -> None:
        if node.tag == f"{_TEXT}s":
            count = node.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdigit() else 1, _MOST_SPACES))
        elif node.tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif node.tag == f"{_TEXT}tab":
            parts.append("\t")
        elif isinstance(node.tag, str) and node.tag not in _SKIPPED:
            parts.append(node.text or "")
            for child in node:
                add(child)
                parts.append(child.tail or "")

    add(element)
    return "".join(parts).strip()
