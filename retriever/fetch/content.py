"""The answers that count as pages: HTML, text, Markdown, JSON, CSV, PDF, Office documents and EPUB books."""

from __future__ import annotations

import re

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.kind import kind_of
from citewell.retriever.fetch.download import ContentTypeError

SNIFF_BYTES = 1024
"""Bytes of a body that decide its type: a PDF reader accepts `%PDF-` in the first 1024 bytes."""

PDF = "application/pdf"
_PAGES = re.compile(
    r"text/(html|plain|(x-)?markdown|csv|tab-separated-values)|application/(xhtml\+xml|json|[\w.-]+\+json)",
    re.ASCII,
)
_OFFICE = re.compile(
    r"application/(vnd\.openxmlformats-officedocument\.[\w.-]+|vnd\.oasis\.opendocument\.text|epub\+zip)",
    re.ASCII,
)
# One of these comes first in their ZIP file.
_OFFICE_NAMES = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"mimetypeapplication/")
# Types that servers send for unknown files,
# https://mimesniff.spec.whatwg.org/#interpreting-the-resource-metadata
_UNKNOWN = frozenset({"", "application/octet-stream", "binary/octet-stream", "unknown/unknown", "*/*"})
_XML = frozenset({"application/xml", "text/xml"})
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+", re.ASCII)
_SNIFFED = {
    "html": "text/html",
    "markdown": "text/markdown",
    "text": "text/plain",
    "pdf": PDF,
    "json": "application/json",
    "csv": "text/csv",
}


def page_type(declared: str, head: bytes) -> str:
    """Return the content type of a page from its header and the first bytes of its body.

    The declared type is returned as it is where the bytes bear it out. Bytes decide where it is missing,
    broken or says nothing, and for PDF always. Raises `ContentTypeError`, naming the type that was sent, for
    everything that cannot be read as a page.
    """
    media = declared.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media):
        media = ""
    is_page = _PAGES.fullmatch(media) is not None
    is_office = _OFFICE.fullmatch(media) is not None
    if not (is_page or is_office or media in _UNKNOWN | _XML | {PDF}) and b"%PDF-" not in head[:SNIFF_BYTES]:
        raise ContentTypeError(f"its content type is {media[:80]}, which is not a page of text")
    try:
        kind = kind_of(head, "", declared)
    except ExtractionError as error:
        raise ContentTypeError(
            f"it is declared as {media[:80]}, but {error.message}" if media else error.message
        ) from None
    if kind in ("zip", "gzip"):
        if kind == "zip" and (is_office or any(name in head[:SNIFF_BYTES] for name in _OFFICE_NAMES)):
            return declared if is_office else "application/zip"
        archive = "ZIP archive" if kind == "zip" else "gzip archive"
        raise ContentTypeError(f"it is a binary file ({archive})")
    if is_office:
        raise ContentTypeError(f"it is declared as {media[:80]}, but its bytes are not those of a document")
    if media == PDF and kind != "pdf":
        raise ContentTypeError("it is declared as a PDF, but its bytes are not those of a PDF")
    if media in _XML and kind == "text":
        raise ContentTypeError(f"its content type is {media}, and it is not a page")
    return declared if is_page and kind != "pdf" else _SNIFFED[kind]
