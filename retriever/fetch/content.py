"""Which answers are pages: HTML, XHTML, plain text, Markdown and PDF."""

from __future__ import annotations

from retriever.fetch.download import ContentTypeError

TEXT_TYPES = frozenset(
    {"text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"}
)
PDF = "application/pdf"
SNIFF_BYTES = 1024
"""How much of a body decides its type: a PDF reader accepts `%PDF-` in the first 1024 bytes."""


def page_type(declared: str, head: bytes) -> str:
    """Return the content type of a page from its header and the first bytes of its body.

    A body that starts with `%PDF-` is a PDF whatever the header says, and one without is none.
    Raises `ContentTypeError`, naming the type, for everything that cannot be read as a page.
    """
    media = declared.partition(";")[0].strip().lower()
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"%PDF-"):
        return PDF
    if media == PDF:
        if b"%PDF-" in head[:SNIFF_BYTES]:
            return PDF
        raise ContentTypeError("it is declared as a PDF, but its bytes are not those of a PDF")
    if not media:
        raise ContentTypeError("the server does not say what type of content it sent")
    if media not in TEXT_TYPES:
        raise ContentTypeError(f"its content type is {media[:80]}, which is not a page of text")
    return declared
