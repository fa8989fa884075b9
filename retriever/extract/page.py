"""The one entrance: the bytes of a page or a file to its title and passages."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from core.errors import ExtractionError
from core.text import shorten
from core.types import Page
from retriever.extract.kind import kind_of
from retriever.extract.paragraphs import to_passages

if TYPE_CHECKING:
    from retriever.extract.document import Document

_LONGEST_TITLE = 200  # characters


def extract(body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
    """The title and the passages of an HTML, Markdown, plain text or PDF page.

    `url` may also be the path of a file, `content_type` is the HTTP header, and `title` is used where
    the page itself names none. Raises `ExtractionError` where there is no text to read; its `message`
    is the reason, to be shown beside the URL.
    """
    document = _read(body, url, content_type)
    title = shorten(document.title or title or _name(url), _LONGEST_TITLE)
    passages = to_passages(document.blocks, url, title)
    if not passages:
        raise ExtractionError("it holds no readable text")
    return Page(url, title, passages)


def _read(body: bytes, url: str, content_type: str) -> Document:
    match kind_of(body, url, content_type):
        case "html":
            from retriever.extract.html import read_html

            return read_html(body, content_type)
        case "markdown":
            from retriever.extract.markdown import read_markdown

            return read_markdown(body, content_type)
        case "pdf":
            from retriever.extract.pdf import read_pdf

            return read_pdf(body)
        case "text":
            from retriever.extract.text import read_text

            return read_text(body, content_type)


def _name(url: str) -> str:
    """What the URL calls the page: the last part of its path, or else its host."""
    parts = urlsplit(url)
    last = unquote(parts.path).rstrip("/").rpartition("/")[2]
    return last.replace("_", " ") or parts.netloc or url
