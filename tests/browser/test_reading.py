"""Pages are made in processes of their own, and what harms one of these harms no other page."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from citewell.browser.page import error_page
from citewell.browser.reading import PageReader, read_page
from citewell.core.errors import ExtractionError
from citewell.retriever.extract.sandbox import Sandbox, SandboxLimits

URL = "https://birds.example/wiki/crows"
TEXT = "Crows are large black birds, and they are known for how well they remember faces. " * 4
LINKS = '<a href="/rooks">Rooks</a> <a href="https://www.jays.example/">Jays</a>'
HTML = f"<title>Crows</title><p>{TEXT}</p><p>{LINKS}</p>".encode()
SLOW = b"<" * 3_000_000  # half a minute of lxml's and Readability's time


@pytest.fixture
async def reader() -> AsyncIterator[PageReader]:
    async with Sandbox(SandboxLimits(workers=1, seconds=3, memory_bytes=400_000_000)) as sandbox:
        yield PageReader(sandbox)


async def test_a_page_is_the_same_in_a_process_of_its_own(reader: PageReader) -> None:
    page = await reader.read(HTML, URL, "text/html")
    assert page == read_page(HTML, URL, "text/html")
    assert page.title == "Crows (birds.example)"
    assert [link.url for link in page.links] == ["https://birds.example/rooks", "https://www.jays.example/"]


async def test_an_error_is_the_same_in_a_process_of_its_own(reader: PageReader) -> None:
    image = b"\x89PNG\r\n\x1a\n\0\0"
    assert await reader.read(image, URL, "image/png") == read_page(image, URL, "image/png")


async def test_links_to_denied_domains_are_text(reader: PageReader) -> None:
    async with Sandbox(SandboxLimits(workers=1)) as sandbox:
        page = await PageReader(sandbox, denied=("jays.example",)).read(HTML, URL)
    assert page.text.endswith("【0†Rooks】 Jays")


async def test_a_page_that_takes_too_long_is_an_error_and_the_next_is_read(reader: PageReader) -> None:
    slow = await reader.read(SLOW, URL, "text/html")
    assert slow == error_page(URL, "reading it took longer than 3 s")
    assert (await reader.read(HTML, URL, "text/html")).kind == "page"


@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "notes/crows.html"])
async def test_any_address_will_do(reader: PageReader, url: str) -> None:
    page = await reader.read(HTML, url, "text/html")
    assert (page.kind, page.name, page.url) == ("page", "Crows", url)


@pytest.mark.parametrize("url", ["http://a\ud800b/"])
async def test_what_is_no_address_is_an_error(reader: PageReader, url: str) -> None:
    page = await reader.read(HTML, url, "text/html")
    assert (page.kind, page.url) == ("error", url)


async def test_what_a_reader_raises_is_the_reason() -> None:
    async with Sandbox(SandboxLimits(workers=1)) as sandbox:
        with pytest.raises(ExtractionError, match="no_such_function"):
            await sandbox.read("citewell.browser.reading:no_such_function", str, HTML, URL)
        with pytest.raises(ExtractionError, match="no valid answer"):
            await sandbox.read("citewell.browser.reading:read", int, HTML, URL)
