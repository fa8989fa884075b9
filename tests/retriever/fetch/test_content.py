"""What a page is: by its bytes, and by the declared type where that is borne out."""

from __future__ import annotations

import pytest

from citewell.retriever.fetch.content import page_type
from citewell.retriever.fetch.download import ContentTypeError

HTML = b"<!DOCTYPE html><html><title>A page</title>"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize(
    ("declared", "head", "is_read_as"),
    [
        ("text/html; charset=utf-8", HTML, "text/html; charset=utf-8"),
        ("Text/HTML", b"only words", "Text/HTML"),
        ("application/xhtml+xml", HTML, "application/xhtml+xml"),
        ("text/plain", HTML, "text/plain"),
        ("text/markdown", b"# Title\n", "text/markdown"),
        ("application/json", b'{"a": 1}', "application/json"),
        ("application/ld+json", b'{"a": 1}', "application/ld+json"),
        ("application/vnd.api+json; charset=utf-8", b"[]", "application/vnd.api+json; charset=utf-8"),
        ("", HTML, "text/html"),
        ("", b"only words", "text/plain"),
        ("", b"%PDF-1.7", "application/pdf"),
        ("html", HTML, "text/html"),
        ("text/html, text/html", HTML, "text/html"),
        ("application/octet-stream", HTML, "text/html"),
        ("application/octet-stream", b"only words", "text/plain"),
        ("application/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("application/pdf", b"junk\n%PDF-1.4", "application/pdf"),
        ("image/png", b"%PDF-1.4", "application/pdf"),
        (DOCX, b"PK\x03\x04\x14\0", DOCX),
        ("", b"PK\x03\x04\x14\0" + bytes(24) + b"mimetypeapplication/epub+zip", "application/zip"),
        ("text/csv", b"Kite,Wind\n", "text/csv"),
        ("application/xml", b'<?xml version="1.0"?>\n' + HTML, "text/html"),
        ("text/html; charset=utf-16", "\ufeff<html>".encode("utf-16"), "text/html; charset=utf-16"),
    ],
)
def test_what_is_read(declared: str, head: bytes, is_read_as: str) -> None:
    assert page_type(declared, head) == is_read_as


@pytest.mark.parametrize(
    ("declared", "head", "reason"),
    [
        ("text/html", PNG, r"declared as text/html, but it is a binary file \(PNG image\)"),
        ("application/json", b"PK\x03\x04\x14\0", "ZIP archive"),
        ("text/plain", b"\x7fELF\x02\x01\x01", "program"),
        ("", b"\x1f\x8b\x08\0", "gzip archive"),
        (DOCX, b"only words", "not those of a document"),
        ("application/octet-stream", bytes(100), "empty|binary"),
        ("image/svg+xml", b"<svg/>", "its content type is image/svg"),
        ("text/css", b"p {}", "its content type is text/css"),
        ("application/rss+xml", b"<?xml?><rss>", "rss"),
        ("text/xml", b"<?xml version='1.0'?><rss></rss>", "not a page"),
        ("application/pdf", HTML, "not those of a PDF"),
        ("text/html", b"", "it is empty"),
    ],
)
def test_what_is_not_read(declared: str, head: bytes, reason: str) -> None:
    with pytest.raises(ContentTypeError, match=reason) as raised:
        page_type(declared, head)
    assert raised.value.kind == "type"
