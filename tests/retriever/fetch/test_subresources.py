"""Scripts of public pages never reach a private network, even one that was opened for fetching."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.subresources import SubresourceFetcher


@pytest.mark.parametrize(
    ("page", "url", "way"),
    [
        ("https://a.example/page", "https://a.example/app.js", "public"),
        ("https://a.example/page", "https://cdn.example/app.js", "public"),
        ("https://a.example/page", "http://10.0.0.5/secret", "public"),
        ("http://10.0.0.5/page", "http://10.0.0.5/app.js", "private"),
        ("http://10.0.0.5/page", "http://10.0.0.5:8080/app.js", "private"),
        ("http://10.0.0.5/page", "http://10.0.0.6/secret", "public"),
        ("http://10.0.0.5/page", "https://cdn.example/app.js", "public"),
        ("http://192.168.0.1/page", "http://192.168.0.1/app.js", "public"),
        ("http://[fd00::1]/page", "http://[fd00::1]/app.js", "private"),
    ],
)
async def test_which_way_a_part_is_fetched(page: str, url: str, way: str) -> None:
    used = []

    async def public(url: str) -> Download:
        used.append("public")
        return Download(url, "", b"", 200, url)

    async def private(url: str) -> Download:
        used.append("private")
        return Download(url, "", b"", 200, url)

    parts = SubresourceFetcher(public, private, [ip_network("10.0.0.0/8"), ip_network("fd00::/8")])
    assert (await parts.get(page, url)).url == url
    assert used == [way]
