"""The entry point of extraction: from the bytes of a page or a file to its title and passages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from citewell.core.addresses import address_parts, shown_name
from citewell.core.errors import ExtractionError
from citewell.core.text import shorten, uncontrolled
from citewell.core.types import Page, Passage
from citewell.retriever.extract.compressed import unzipped
from citewell.retriever.extract.kind import Kind, kind_of
from citewell.retriever.extract.paragraphs import to_passages

if TYPE_CHECKING:
    from citewell.retriever.extract.document import ExtractedDocument

_MAX_TITLE = 200  # characters


Engine = Literal["main", "paper"]


class ReadingOptions(NamedTuple):
    """Options of reading: the engine for HTML, the pages of a PDF, and the seconds of any long document."""

    engine: Engine = "main"
    pdf_pages: int = 500
    seconds: float = 15.0


def extract(
    body: bytes, url: str, content_type: str = "", title: str = "", options: ReadingOptions | None = None
) -> Page:
    """Read the title and the passages of a page of any kind that `kind_of` knows, also compressed by gzip.

    `url` may also be the path of a file, `content_type` is the HTTP header, and `title` is used if the page
    has none. Raises `ExtractionError` for a page without text; its `message` is the reason, to be shown
    beside the URL. A page of which only the beginning was read has a `notice`.
    """
    options = options or ReadingOptions()
    kind = kind_of(body, url, content_type)
    path = url
    if kind == "gzip":
        body, path, content_type = unzipped(body), url.removesuffix(".gz"), ""
        kind = kind_of(body, path)
    document, notice = _read(kind, body, path, content_type, options)
    # The first line of a plain text is a guess, and only better than the name of its file.
    found = title or document.title if kind == "text" else document.title or title
    title = shorten(uncontrolled(found or name_of(path)), _MAX_TITLE)
    passages = tuple(map(_uncontrolled, to_passages(document.blocks, url, title)))
    if not passages:
        raise ExtractionError("it holds no readable text")
    return Page(url, title, passages, notice, uncontrolled(document.author), document.date)


def _uncontrolled(passage: Passage) -> Passage:
    headings = tuple(map(uncontrolled, passage.headings))
    return replace(passage, text=uncontrolled(passage.text), headings=headings)


class _Reading(NamedTuple):
    document: ExtractedDocument
    notice: str = ""


def _read(kind: Kind, body: bytes, url: str, content_type: str, options: ReadingOptions) -> _Reading:
    match kind:
        case "html":
            if options.engine == "paper":
                from citewell.retriever.extract.paper import read_as_paper

                return _Reading(read_as_paper(body, content_type))
            from citewell.retriever.extract.html import read_html

            return _Reading(read_html(body, content_type, url))
        case "markdown":
            from citewell.retriever.extract.markdown import read_markdown

            return _Reading(read_markdown(body, content_type))
        case "pdf":
            from citewell.retriever.extract.pdf import read_pdf

            return _Reading(*read_pdf(body, options.pdf_pages, options.seconds))
        case "zip":
            from citewell.retriever.extract.office.reading import read_package

            return _Reading(*read_package(body, options.seconds))
        case "csv":
            from citewell.retriever.extract.table import read_csv

            return _Reading(*read_csv(body, content_type, options.seconds))
        case "gzip":
            raise ExtractionError("it is compressed twice", "Uncompress it once.")
        case "json":
            from citewell.retriever.extract.data import read_json

            return _Reading(*read_json(body, content_type))
        case "text":
            from citewell.retriever.extract.text import read_text

            return _Reading(read_text(body, content_type))


def name_of(url: str) -> str:
    """Return the name of the page in its URL: the last part of the path, or else the host."""
    parts = address_parts(url)
    last = shown_name(parts.path).rstrip("/").rpartition("/")[2]
    return last.replace("_", " ") or shown_name(parts.netloc) or url
