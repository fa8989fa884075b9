"""Reading of HTML: the main text, in the blocks that its author set apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.charset import to_utf8
from citewell.retriever.extract.document import Block, ExtractedDocument
from citewell.retriever.extract.main_text.assembly import assemble
from citewell.retriever.extract.main_text.choice import choose
from citewell.retriever.extract.main_text.classifier import packaged
from citewell.retriever.extract.main_text.layout import lay_out, parse
from citewell.retriever.extract.main_text.signs import described, read_signs
from citewell.retriever.extract.main_text.surroundings import outside_main_text
from citewell.retriever.extract.metadata import article_body, read_metadata
from citewell.retriever.extract.visibility.pieces import seen_texts

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.classifier import Classifier

_MIN_VISIBLE = 25  # characters; a page that shows less shows "Loading …" or the like


def read_html(
    body: bytes, content_type: str = "", url: str = "", classifier: Classifier | None = None
) -> ExtractedDocument:
    """Read the main text of an HTML page, without navigation, banners, footers and ads.

    Each run of text is judged by a classifier that has learned from pages of seven kinds, so that forum
    posts and comments stay where they are what the page is about. Text that a reader cannot see is left out.
    Where the page shows next to nothing, since its scripts build it, the article in its structured data is
    taken. Raises `ExtractionError` where there is none.
    """
    markup = to_utf8(body, content_type)
    tree = parse(markup)
    if tree is None:
        raise ExtractionError("no main text found: its HTML cannot be parsed")
    items = list(described(tree))
    metadata = read_metadata(tree, items, markup)
    signs = read_signs(tree, url)
    layout = lay_out(tree)
    blocks: tuple[Block, ...] = ()
    if layout.texts:
        likely = (classifier or packaged()).probabilities(layout, signs)
        kept = choose(layout, likely, signs.kind)
        layout.texts = seen_texts(tree, layout)
        kept = [keep and bool(text) for keep, text in zip(kept, layout.texts, strict=True)]
        blocks = assemble(layout, kept, metadata.title)
        if _size(blocks) < _MIN_VISIBLE:  # an unusual page: all of its text is better than none
            outside = outside_main_text(layout)
            possible = [not out and bool(text) for out, text in zip(outside, layout.texts, strict=True)]
            blocks = assemble(layout, possible, metadata.title)
    if _size(blocks) < _MIN_VISIBLE:
        blocks = tuple(Block(paragraph) for paragraph in article_body(items))
    if _size(blocks) < _MIN_VISIBLE:
        raise ExtractionError(
            "no main text found: the page shows next to no text",
            "Open it in a browser: it may build its text with JavaScript or need a sign-in.",
        )
    return ExtractedDocument(metadata.title, blocks, metadata.author, metadata.date)


def read_whole(body: bytes, title: str = "") -> tuple[Block, ...]:
    """Read all text of an HTML page that its reader sees, such as a chapter of a book called `title`."""
    tree = parse(to_utf8(body, ""))
    if tree is None:
        return ()
    layout = lay_out(tree)
    layout.texts = seen_texts(tree, layout)
    return assemble(layout, [bool(text) for text in layout.texts], title)


def _size(blocks: tuple[Block, ...]) -> int:
    return sum(len(block.text) for block in blocks)
