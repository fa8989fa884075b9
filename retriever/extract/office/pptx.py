"""Reading of PowerPoint presentations."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.office.package import Package, explained, own_title
from citewell.retriever.extract.table import table_blocks

if TYPE_CHECKING:
    from pptx.slide import Slide
    from pptx.text.text import TextFrame

_DEEPEST = 20  # groups within groups
_FOOTERS = frozenset({"DATE", "FOOTER", "SLIDE_NUMBER", "HEADER"})


def read_pptx(body: bytes, package: Package) -> ExtractedDocument:
    """Read the slides of a presentation, each under its number and title, with its tables and notes.

    [python-pptx](https://python-pptx.readthedocs.io) reads the file. The title is that of the first slide, or
    the one in the properties. Raises `ExtractionError` for a presentation that is broken.
    """
    import pptx

    package.check_entities()
    blocks: list[Block] = []
    with explained("pptx"):
        deck = pptx.Presentation(io.BytesIO(body))
        slides = [slide for slide in deck.slides if slide.element.get("show") not in ("0", "false")]
        titles = [_title(slide) for slide in slides]
        for number, (slide, title) in enumerate(zip(slides, titles, strict=True), start=1):
            heading = f"Slide {number}: {title}" if title else f"Slide {number}"
            blocks += _slide(slide, (heading,))
        title = next(filter(None, titles[:1]), "") or own_title(deck.core_properties.title)
    return ExtractedDocument(title, tuple(blocks))


def _title(slide: Slide) -> str:
    shape = slide.shapes.title
    return " ".join(shape.text_frame.text.split()) if shape is not None else ""


def _slide(slide: Slide, headings: tuple[str, ...]) -> Iterator[Block]:
    title = slide.shapes.title
    blocks = list(_shapes(slide.shapes, title.shape_id if title is not None else None, headings, 0))
    # A slide that has only a title still says something.
    yield from blocks or ([Block(_title(slide), headings)] if _title(slide) else [])
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        yield Block(f"Notes: {_lines(notes)}", headings)


def _shapes(
    shapes: Iterable[Any], title: int | None, headings: tuple[str, ...], depth: int
) -> Iterator[Block]:
    for shape in shapes:
        if shape.shape_id == title or (shape.is_placeholder and _is_footer(shape)):
            continue
        if hasattr(shape, "shapes"):  # a group
            if depth < _DEEPEST:
                yield from _shapes(shape.shapes, title, headings, depth + 1)
        elif getattr(shape, "has_table", False):
            rows = [[" ".join(cell.text.split()) for cell in row.cells] for row in shape.table.rows]
            yield from table_blocks(rows, headings)
        elif shape.has_text_frame and (text := _lines(shape.text_frame)):
            yield Block(text, headings)


def _is_footer(shape: Any) -> bool:
    kind = shape.placeholder_format.type
    return kind is not None and kind.name in _FOOTERS


def _lines(frame: TextFrame) -> str:
    """Return the paragraphs of a text frame; two or more are a list, indented by their level."""
    paragraphs = [(each.level, " ".join(each.text.split())) for each in frame.paragraphs]
    paragraphs = [(level, text) for level, text in paragraphs if text]
    if len(paragraphs) < 2:
        return "".join(text for _, text in paragraphs)
    return "\n".join(f"{'  ' * level}- {text}" for level, text in paragraphs)
