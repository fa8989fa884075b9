"""So many pages of one host, and no more, for one question."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.share import HostShare


async def test_the_first_pages_of_a_host_are_read() -> None:
    asked: list[tuple[str, bool]] = []

    async def fetch(url: str, *, hedge: bool = False, on_body: Callable[[], None] | None = None) -> Download:
        asked.append((url, hedge))
        return Download(url, "text/plain", b"a page", 200, url)

    get = HostShare(fetch, most=2)
    await get("http://a.example/1")
    await get("https://A.example:8443/2")
    await get("http://b.example/1")
    with pytest.raises(FetchError, match="2 other pages of its host are read already") as raised:
        await get("http://a.example/3")
    assert raised.value.kind == "host_pages"
    await get("http://a.example/1", hedge=True)
    with pytest.raises(FetchError, match="not a valid URL"):
        await get("http://[")
    assert [url for url, hedge in asked if not hedge] == [
        "http://a.example/1",
        "https://A.example:8443/2",
        "http://b.example/1",
    ]
    assert asked[-1] == ("http://a.example/1", True)
