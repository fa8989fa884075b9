"""The kind of a page, decided by its content first, then its Content-Type, then its name."""

from __future__ import annotations

import codecs
import re
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote

from citewell.core.addresses import address_parts
from citewell.core.errors import ExtractionError

Kind = Literal["html", "markdown", "text", "pdf", "json", "csv", "zip", "gzip"]

READABLE = (
    "Citewell reads HTML, Markdown, plain text, JSON, CSV, PDF, .docx, .odt, .pptx, .xlsx and .epub, also "
    "compressed as .gz."
)

_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"RIFF", "WebP image, or audio or video"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"\x1aE\xdf\xa3", "WebM or Matroska video"),
    (b"\x7fELF", "program"),
    (b"wOF", "web font"),
    (b"SQLite format 3\x00", "SQLite database"),
)
_ZIP = b"PK\x03\x04"
_GZIP = b"\x1f\x8b"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # also around Office documents with a password
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))
_WINDOW = 8192  # bytes looked at for binary content
_PDF_WINDOW = 1024  # readers accept %PDF- anywhere here (ISO 32000-1, annex H, note 13)
_PREAMBLE = re.compile(rb"\A(?:\s|\xef\xbb\xbf|\xff\xfe|\xfe\xff|<\?xml.*?\?>|<!--.*?-->)*", re.DOTALL)
# A whole document, whatever the header says. Markdown can begin with <p>, <div> or <h1>.
_HTML_DOCUMENT = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_HTML_PIECE = re.compile(
    rb"<(?:title|meta|script|style|h[1-6]|div|p|table|section|article|main|ul|ol|br|a)\b",
    re.IGNORECASE,
)
_MEDIA_TYPES: dict[str, Kind] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "application/pdf": "pdf",
    "application/json": "json",
    "text/json": "json",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
}
_SUFFIXES: dict[str, Kind] = {
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".pdf": "pdf",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
}


def kind_of(body: bytes, url: str, content_type: str = "") -> Kind:
    """Return the kind of page that `body` is; raise `ExtractionError` for an empty or a binary one.

    `zip` is what Office documents and books are; what is in one is known once it is opened.
    """
    if not body.strip(b" \t\r\n\f\v\0\xef\xbb\xbf\xff\xfe"):
        raise ExtractionError("it is empty", "Open it in a browser: it may need a sign-in or JavaScript.")
    if b"%PDF-" in body[:_PDF_WINDOW]:
        return "pdf"
    if body.startswith(_ZIP):
        return "zip"
    if body.startswith(_GZIP):
        return "gzip"
    if body.startswith(_OLE):
        raise _old_office(body)
    if binary := _signed(body):
        raise _not_text(binary)
    head = body[:_WINDOW].replace(b"\0", b"")  # UTF-16 markup is ASCII without its NULs
    head = _PREAMBLE.sub(b"", head, count=1)
    if _HTML_DOCUMENT.match(head):
        return "html"
    media_type = content_type.partition(";")[0].strip().lower()
    if _is_binary(body[:_WINDOW]):
        known = media_type and not media_type.startswith("text/")
        raise _not_text(media_type if known else "unknown type")
    # application/ld+json, application/vnd.api+json and others (RFC 6839 §3.1)
    declared = "json" if media_type.endswith("+json") else _MEDIA_TYPES.get(media_type)
    named = _SUFFIXES.get(_suffix(url))
    # Servers declare text/plain for Markdown and for files of unknown types.
    if kind := declared or named:
        return kind
    return "html" if _HTML_PIECE.match(head) else "text"


def _suffix(url: str) -> str:
    return PurePosixPath(unquote(address_parts(url).path)).suffix.lower()


def _signed(body: bytes) -> str:
    """Return the name of the binary format whose signature `body` begins with, or an empty string."""
    if body[4:8] == b"ftyp":
        return "MP4 video, or AVIF or HEIC image"
    if body[257:262] == b"ustar":
        return "tar archive"
    return next((name for signature, name in _SIGNATURES if body.startswith(signature)), "")


def _is_binary(window: bytes) -> bool:
    if window.startswith(_UTF16):
        return False
    controls = len(window) - len(window.translate(None, _CONTROLS))
    return b"\0" in window or controls > len(window) * 0.05


def _not_text(binary: str) -> ExtractionError:
    return ExtractionError(f"it is a binary file ({binary})", READABLE)


def _old_office(body: bytes) -> ExtractionError:
    if _ENCRYPTED in body:
        return ExtractionError("it is encrypted, and needs a password", "Save a copy without a password.")
    return ExtractionError(
        "it is a binary file (old Office document)", "Save it as .docx, .pptx or .xlsx, and use that."
    )
