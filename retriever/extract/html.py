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

if TYPE_CHECKING:
    from citewell.retriever.extract.main_text.classifier import Classifier

_MIN_VISIBLE = 25  # characters; a page that shows less shows "Loading …" or the like


def read_html(
    body: bytes, content_type: str = "", url: str = "", classifier: Classifier | None = None
) -> ExtractedDocument:
    """Read the main text of an HTML page, without navigation, banners, footers and ads.

    Each run of text is judged by a classifier that has learned from pages of seven kinds, so that forum
    posts and comments stay where they are what the page is about. Where the text that the page shows is
    shorter than the article in its structured data, that is taken. Raises `ExtractionError` where the page
    shows no text.
    """
    markup = to_utf8(body, content_type)
    tree = parse(markup)
    if tree is None:
        raise ExtractionError("no main text found: its HTML cannot be parsed")
    layout = lay_out(tree)
    items = list(described(tree))
    metadata = read_metadata(tree, items, markup)
    blocks: tuple[Block, ...] = ()
    if layout.texts:
        signs = read_signs(tree, url)
        likely = (classifier or packaged()).probabilities(layout, signs)
        blocks = assemble(layout, choose(layout, likely, signs.kind), metadata.title)
        if _size(blocks) < _MIN_VISIBLE:  # an unusual page: all of its text is better than none
            possible = [not outside for outside in outside_main_text(layout)]
            blocks = assemble(layout, possible, metadata.title)
    hidden = tuple(Block(paragraph) for paragraph in article_body(items))
    if _size(hidden) > 2 * _size(blocks):
        blocks = hidden
    if _size(blocks) < _MIN_VISIBLE:
        raise ExtractionError(
            "no main text found: the page shows next to no text",
            "Open it in a browser: it may build its text with JavaScript or need a sign-in.",
        )
    return ExtractedDocument(metadata.title, blocks, metadata.author, metadata.date)


def _size(blocks: tuple[Block, ...]) -> int:
    return sum(len(block.text) for block in blocks)
