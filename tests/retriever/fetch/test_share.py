"""So many pages of one host, and no more, for one question."""

from __future__ import annotations

import pytest

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.fetch.share import HostShare


async def test_the_first_pages_of_a_host_are_read() -> None:
    asked: list[tuple[str, bool]] = []

    async def fetch(request: PageRequest) -> Download:
        asked.append((request.url, request.is_hedge))
        return Download(request.url, "text/plain", b"a page", 200, request.url)

    get = HostShare(fetch, max_pages=2)
    await get(PageRequest("http://a.example/1"))
    await get(PageRequest("https://A.example:8443/2"))
    await get(PageRequest("http://b.example/1"))
    with pytest.raises(FetchError, match="2 other pages of its host are read already") as raised:
        await get(PageRequest("http://a.example/3"))
    assert raised.value.kind == "host_pages"
    await get(PageRequest("http://a.example/1", is_hedge=True))
    with pytest.raises(FetchError, match="not a valid URL"):
        await get(PageRequest("http://["))
    assert [url for url, hedge in asked if not hedge] == [
        "http://a.example/1",
        "https://A.example:8443/2",
        "http://b.example/1",
    ]
    assert asked[-1] == ("http://a.example/1", True)
