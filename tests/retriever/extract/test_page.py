"""What a page is, and what is said about one that cannot be read."""

from __future__ import annotations

import gzip
import random
import re

import pytest

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.kind import kind_of
from citewell.retriever.extract.page import extract

# They color a terminal, set its title, and fill its clipboard.
ESCAPES = "\x1b[31m", "&#27;]0;pwned&#7;", "\x9b2J", "\x1b]52;c;cm0=\x07"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\x06\0\0\0\x1f\x15\xc4\x89"
HTML = b"<!DOCTYPE html>\n<html><head><title>T</title></head><body><p>text</p></body></html>"


@pytest.mark.parametrize(
    ("body", "url", "content_type", "kind"),
    [
        # content first ...
        (b"%PDF-1.7\n...", "https://a.example/doc", "text/html", "pdf"),
        (b"\n\n%PDF-1.7\n...", "https://a.example/doc", "application/octet-stream", "pdf"),
        (HTML, "https://a.example/x.txt", "text/plain", "html"),
        (b"\xef\xbb\xbf <!-- made by hand -->\n" + HTML, "https://a.example/x", "", "html"),
        (HTML.decode().encode("utf-16"), "https://a.example/x", "", "html"),
        (HTML.replace(b"text", b"te\0xt"), "https://a.example/x", "text/html", "html"),
        (b'<?xml version="1.0"?>\n<html xmlns="x"></html>', "x", "application/xml", "html"),
        # ... then the header ...
        (b"<p>a</p>", "https://a.example/x.md", "text/html; charset=utf-8", "html"),
        (b"# Title", "https://a.example/x", "text/markdown", "markdown"),
        # ... then the name ...
        (b"# Title", "https://a.example/README.md?raw=1", "text/plain", "markdown"),
        (b'<p align="center">Logo</p>\n\n# Title', "docs/README.MD", "", "markdown"),
        (b"Some text", "/home/me/notes.txt", "", "text"),
        (b"<p>a</p>", "page.HTM", "", "html"),
        # ... and at last a look at how it begins.
        (b"<div>a</div>", "https://a.example/", "", "html"),
        (b"Some text, a < b", "https://a.example/", "", "text"),
    ],
)
def test_kind(body: bytes, url: str, content_type: str, kind: str) -> None:
    assert kind_of(body, url, content_type) == kind


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "is empty"),
        (b" \n\t\n ", "is empty"),
        (b"\xef\xbb\xbf\n", "is empty"),
        (PNG, r"is a binary file \(PNG image\)"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", r"is a binary file \(JPEG image\)"),
        (b"PK\x03\x04\x14\0\0\0", r"its ZIP file is broken"),
        (gzip.compress(HTML, mtime=0)[:-9], r"its gzip file ends too early"),
        (b"\0\0\0\x20ftypisom", r"is a binary file \(MP4"),
        (b"some text\0and more", r"is a binary file \(unknown type\)"),
        (random.Random(1).randbytes(2000).replace(b"\0", b""), r"is a binary file \(unknown type\)"),
    ],
)
def test_unreadable(body: bytes, reason: str) -> None:
    with pytest.raises(ExtractionError, match=reason):
        extract(body, "https://a.example/x")


@pytest.mark.parametrize(
    ("content_type", "name"),
    [("application/x-thing; v=1", "application/x-thing"), ("text/plain", "unknown type")],
)
def test_an_unknown_binary_file_is_called_what_the_server_calls_it(content_type: str, name: str) -> None:
    with pytest.raises(ExtractionError, match=re.escape(f"is a binary file ({name})")):
        extract(b"\0\1\2\3", "https://a.example/x", content_type)


def test_content_of_nothing_but_markup_holds_no_text() -> None:
    with pytest.raises(ExtractionError, match="holds no readable text"):
        extract(b"---\ntitle: Nothing\n---\n", "x.md")


def test_passages_know_their_page() -> None:
    page = extract(b"One paragraph of text.", "notes/wind.txt", title="Wind")
    assert (page.url, page.title) == ("notes/wind.txt", "Wind")
    assert [(p.url, p.title, p.text) for p in page.passages] == [
        ("notes/wind.txt", "Wind", "One paragraph of text.")
    ]
    assert extract(b"One paragraph of text.", "notes/wind.txt").title == "wind.txt"


@pytest.mark.parametrize("url", ["https://owls.example/", "owls.md", "owls.txt"])
def test_a_page_cannot_command_a_terminal(url: str) -> None:
    hidden = "".join(ESCAPES)
    lines = [f"Owls hunt {hidden} at night, and sleep by day in old barns."]
    if url.startswith("https"):
        body = f"<title>Owls {hidden}</title><h2>Night{hidden}</h2><p>{lines[0]}</p>"
    else:
        body = f"# Owls {hidden}\n\n## Night{hidden}\n\n{lines[0]}\n"
    page = extract(body.encode(), url)
    for passage in page.passages:
        for text in (page.title, passage.text, *passage.headings):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "Owls hunt" in page.passages[-1].text
