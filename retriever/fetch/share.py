"""A bound on the share of one question's pages that a host serves."""

from __future__ import annotations

from collections import defaultdict

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.fetch.urls import web_url


class HostShare:
    """A fetch of the pages of one question, at most `max_pages` of each host.

    A page may be requested again. Redirects do not count: they are hops of the page that leads to them.
    """

    def __init__(self, fetch: PageFetch, max_pages: int) -> None:
        """Fetch with `fetch`."""
        self._fetch = fetch
        self._max_pages = max_pages
        self._requested: defaultdict[str | None, set[str]] = defaultdict(set)

    async def __call__(self, request: PageRequest) -> Download:
        """Fetch one page; raises `FetchError` of the kind `host_pages` when its host has had its share."""
        requested = self._requested[web_url(request.url).raw_host]
        if request.url not in requested and len(requested) >= self._max_pages:
            raise FetchError(f"{self._max_pages} other pages of its host are read already", kind="host_pages")
        requested.add(request.url)
        return await self._fetch(request)
