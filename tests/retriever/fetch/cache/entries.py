"""Entries for the tests of the stores."""

from __future__ import annotations

from multidict import CIMultiDict, CIMultiDictProxy

from citewell.retriever.fetch.cache.entry import CacheEntry

SOON = 4_000_000_000.0  # a time, in seconds since the epoch, that has not come


def entry(
    url: str = "http://site.test/", body: bytes = b"<p>Text.</p>", truncated: bool = False
) -> CacheEntry:
    headers = CIMultiDictProxy(CIMultiDict([("Content-Type", "text/html"), ("Via", "a"), ("Via", "b")]))
    return CacheEntry(url, 200, headers, body, truncated, {"accept": "text/html"}, 1_000.0, 1_001.5)
