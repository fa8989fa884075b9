"""WebGPT's appendix A about content types: one case a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.browser.reading import read_page
from tests.retriever.extract.test_pdf import make_pdf

URL = "https://birds.example/files/crow_notes"
SENTENCE = "Crows bring gifts to the people who feed them, and nobody has taught them to. " * 4
HTML = f'<title>Crows</title><p>{SENTENCE}</p><p><a href="/rooks">Rooks</a></p>'
DATA = Path(__file__).parents[2] / "retriever/extract/data"

SHOWN = {
    "HTML is simplified": (HTML.encode(), "text/html", f"{SENTENCE.strip()}\n\n【0†Rooks】"),
    "XHTML is simplified": (HTML.encode(), "application/xhtml+xml", f"{SENTENCE.strip()}\n\n【0†Rooks】"),
    "HTML without a content type is simplified": (HTML.encode(), "", f"{SENTENCE.strip()}\n\n【0†Rooks】"),
    "the charset of the header counts": (
        f"<p>{SENTENCE}</p><p>Krähe</p>".encode("cp1252"),
        "text/html; charset=windows-1252",
        f"{SENTENCE.strip()}\n\nKrähe",
    ),
    "the charset of the page counts": (
        f"<meta charset=koi8-r><p>{SENTENCE}</p><p>ворона</p>".encode("koi8-r"),
        "text/html",
        f"{SENTENCE.strip()}\n\nворона",
    ),
    "plain text is shown as it is": (b"Crows\n  are   black.\n\n\n*So* they are.", "text/plain", None),
    "marked text is shown as it is": (b"# Crows\n\n[Rooks](rooks.md) <b>too</b>", "text/markdown", None),
    "JSON is shown as it is": (b'{"bird": "crow",\n "size": 50}', "application/json", None),
    "CSV is shown as it is": (b"bird,size\ncrow,50", "text/csv", None),
    "XML is shown as it is": (b"<?xml version='1.0'?>\n<bird>crow</bird>", "application/xml", None),
    "JavaScript is shown as it is": (b"export const bird = 'crow';", "text/javascript", None),
    "text of an unknown type is shown as it is": (b"Crows are black.", "application/octet-stream", None),
    "line breaks of other systems are line breaks": (
        b"Crows\r\nare\rblack.",
        "text/plain",
        "Crows\nare\nblack.",
    ),
    "a PDF is shown as text": (
        make_pdf("BT /F1 12 Tf 72 700 Td (Crows bring gifts.) Tj ET"),
        "application/pdf",
        "Crows bring gifts.",
    ),
    "a PDF is known by its content": (
        make_pdf("BT /F1 12 Tf 72 700 Td (Crows bring gifts.) Tj ET"),
        "text/plain",
        "Crows bring gifts.",
    ),
}


@pytest.mark.parametrize(
    ("body", "content_type", "text"), SHOWN.values(), ids=[f"A: {rule}" for rule in SHOWN]
)
def test_what_is_shown(body: bytes, content_type: str, text: str | None) -> None:
    page = read_page(body, URL, content_type)
    assert page.kind == "page"
    assert page.text == (body.decode() if text is None else text)


ERRORS = {
    "an image is an error": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", "binary file (PNG image)"),
    "an archive is an error": (b"PK\x03\x04\x14\0", "application/zip", "binary file (ZIP archive"),
    "a compressed file is an error": (b"\x1f\x8b\x08\0\0", "application/gzip", "binary file (gzip archive"),
    "sound is an error": (b"ID3\x04\0", "audio/mpeg", "binary file (MP3 audio)"),
    "bytes of an unknown type are an error": (b"\0\1\2\3" * 9, "application/octet-stream", "binary file"),
    "an image that calls itself HTML is an error": (b"\xff\xd8\xff\xe0", "text/html", "JPEG"),
    "an empty page is an error": (b"", "text/html", "it is empty"),
    "a page without text is an error": (b"<html><body></body></html>", "text/html", "it shows no text"),
    "a broken PDF is an error": (b"%PDF-1.7 nothing more", "application/pdf", "the PDF is broken"),
    "a PDF that needs a password is an error": (
        (DATA / "password.pdf").read_bytes(),
        "application/pdf",
        "needs a password",
    ),
}


@pytest.mark.parametrize(
    ("body", "content_type", "reason"), ERRORS.values(), ids=[f"A: {rule}" for rule in ERRORS]
)
def test_errors(body: bytes, content_type: str, reason: str) -> None:
    page = read_page(body, URL, content_type)
    assert page.kind == "error"
    assert page.text.startswith("This page cannot be shown: ")
    assert reason in page.text
    assert (page.title, page.url, page.links) == ("Error (birds.example)", URL, ())


def test_a_text_is_called_after_its_address() -> None:
    assert read_page(b"Crows", URL, "text/plain").title == "crow notes (birds.example)"


def test_a_pdf_is_called_by_its_title() -> None:
    body = make_pdf("BT /F1 12 Tf 72 700 Td (Crows bring gifts.) Tj ET", title="On crows")
    assert read_page(body, URL, "application/pdf").title == "On crows (birds.example)"


LONG = {
    "text": (b"Crows are black. " * 40_000, "text/plain", ("Crows", "are", "black.")),
    "one word": (b"x" * 600_000, "text/plain", "x"),
    "HTML": (
        b'<p>A <a href="/crow">crow</a> sits.%s</p>' % (b" x" * 99) * 3000,
        "text/html",
        ("A", "】", "x"),
    ),
}


@pytest.mark.parametrize(("body", "content_type", "ends"), LONG.values(), ids=[f"A: {rule}" for rule in LONG])
def test_a_very_long_page_is_cut_between_words_and_says_so(
    body: bytes, content_type: str, ends: str | tuple[str, ...]
) -> None:
    page = read_page(body, URL, content_type)
    text, _, notice = page.text.rpartition("\n\n")
    assert notice == "[The rest of this page is left out.]"
    assert 400_000 < len(text) <= 500_000
    assert text.rstrip().endswith(ends)
    assert len(page.links) == text.count("【") == text.count("】")
