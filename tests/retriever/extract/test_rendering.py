"""When a page is rendered before it is read, and what happens where that fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from citewell.core.errors import ExtractionError
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.rendering import RenderingExtractor

URL = "https://a.example/kites"
SENTENCE = "The wind that lifts a kite blows steadily from the sea in the afternoon of most summer days."
SHELL = b'<html><head><title>Kites</title></head><body><div id="root"></div><script src="/app.js"></script>'
FULL = f"<html><body><script></script><p>{' '.join([SENTENCE] * 6)}</p></body></html>".encode()
RENDERED = (
    f"<html><head><title>Kites</title></head><body><p>{SENTENCE} So it says.</p></body></html>".encode()
)


@dataclass
class Browser:
    """Stands in for a browser: always ends up with the same page, or fails."""

    works: bool = True
    rendered: list[str] = field(default_factory=list)

    async def render(self, url: str, body: bytes, content_type: str) -> bytes:
        self.rendered.append(url)
        if not self.works:
            raise ExtractionError("rendering it failed")
        return RENDERED


@pytest.mark.parametrize(
    ("mode", "body", "url", "rendered"),
    [
        ("auto", SHELL, URL, True),
        ("auto", FULL, URL, False),
        ("auto", RENDERED, URL, False),  # no scripts
        ("auto", b"Plain text about <script> tags.", URL + ".txt", False),
        ("always", FULL, URL, True),
        ("always", FULL, "folder/kites.html", False),
        ("always", b"%PDF-1.4 broken", URL, False),
    ],
)
async def test_which_pages_are_rendered(
    in_process: Extractor, mode: Literal["auto", "always"], body: bytes, url: str, rendered: bool
) -> None:
    browser = Browser()
    extractor = RenderingExtractor(in_process, browser.render, mode)
    try:
        page = await extractor.extract(body, url)
    except ExtractionError:
        assert body.startswith(b"%PDF")
    else:
        assert ("So it says." in page.passages[0].text) == (rendered or body is RENDERED)
    assert browser.rendered == ([url] if rendered else [])


async def test_a_page_that_cannot_be_rendered_is_read_as_it_is(in_process: Extractor) -> None:
    extractor = RenderingExtractor(in_process, Browser(works=False).render, "always")
    page = await extractor.extract(FULL, URL)
    assert SENTENCE in page.passages[0].text
    assert page.notice == "it was read without its scripts, since rendering it failed"


async def test_without_any_text_both_reasons_are_given(in_process: Extractor) -> None:
    extractor = RenderingExtractor(in_process, Browser(works=False).render, "auto")
    with pytest.raises(ExtractionError, match=r"text.*; rendering it failed"):
        await extractor.extract(SHELL, URL)
