"""The live web of the text browser, through the search, the collections and the fetcher of the pipeline."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import replace
from weakref import WeakValueDictionary

from citewell.browser.censor import censored
from citewell.browser.held import held_page
from citewell.browser.page import TextPage, error_page
from citewell.browser.results import results_page
from citewell.core.errors import CitewellError
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.search.metasearch import Metasearch
from citewell.retriever.search.presets import PRESETS
from citewell.retriever.search.provider import PageSource
from citewell.retriever.search.query import Query, clip

Read = Callable[[bytes, str, str], Awaitable[TextPage]]
"""Reads `(body, url, content type)`; returns an error page for unreadable content."""
Guard = Callable[[TextPage], TextPage]
"""Returns a page without what its reader must not see. Called in a thread."""

_QUERY_CHARACTERS, _QUERY_WORDS = 1_000, 100
_DENIED = "pages of this site are left out"


class LiveWeb:
    """The web, searched with `search` and opened with `fetch`; implements `Web`.

    A page that cannot be fetched, such as an indexed file, is shown from `pages` if they have it. The live
    version is preferred because it has links. Simplified pages are kept in memory, up to `max_characters` in
    all; the least recently used are dropped first. Sites that WebGPT excluded, and those that `query`
    excludes, are neither found nor opened.
    """

    def __init__(
        self,
        search: Metasearch,
        pages: PageSource | None,
        fetch: PageFetch,
        read: Read,
        *,
        query: Query | None = None,
        guard: Guard = lambda page: page,
        memory: MemoryBudget | None = None,
        max_characters: int = 50_000_000,
    ) -> None:
        """Browse; `query` has the filters of every search, `memory` is the maximum bytes of kept pages.

        Pages and results are shown as `guard` returns them.
        """
        query = query or Query("")
        self._denied = tuple(dict.fromkeys((*query.exclude_sites, *PRESETS["webgpt"])))
        self._query = replace(query, exclude_sites=self._denied)
        self._search = search
        self._pages = pages
        self._fetch = fetch
        self._read = read
        self._guard = guard
        self._memory = memory or MemoryBudget()
        self._kept = _Kept(max_characters)
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def search(self, query: str) -> TextPage:
        """Return a page of results, or an error page if no provider answered."""
        text = clip(query, _QUERY_CHARACTERS, _QUERY_WORDS)
        try:
            found = await self._search.search(replace(self._query, text=text))
        except CitewellError as error:
            return error_page("", f"the search failed, since {error.message}")
        return await asyncio.to_thread(self._guard, results_page(query, found.hits, self._denied))

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the page at `url`, or an error page with the reason why it is not shown."""
        if not self._query.allows(url):
            return error_page(url, _DENIED)
        # Concurrent requests for one page share one fetch.
        async with self._opening.setdefault(url, asyncio.Lock()):
            page = self._kept.get(url)
            if page is None:
                page = await asyncio.to_thread(self._guard, await self._open(url))
                if page.kind == "page":
                    self._kept.put(url, page)
        return censored(page, question, answer)

    async def _open(self, url: str) -> TextPage:
        page = await self._fetched(url)
        if page.kind == "error" and self._pages and (held := self._pages.page(url)):
            return held_page(held)
        return page

    async def _fetched(self, url: str) -> TextPage:
        with Lease(self._memory) as lease:
            try:
                download = await self._fetch(PageRequest(url, lease))
            except CitewellError as error:
                return error_page(url, error.message)
            if not self._query.allows(download.url):
                return error_page(download.url, _DENIED)
            return await self._read(download.body, download.url, download.content_type)


class _Kept:
    """Cache of the most recently used pages, as many as fit."""

    def __init__(self, max_characters: int) -> None:
        self._room = max_characters
        self._pages: OrderedDict[str, TextPage] = OrderedDict()

    def get(self, url: str) -> TextPage | None:
        if url in self._pages:
            self._pages.move_to_end(url)
        return self._pages.get(url)

    def put(self, url: str, page: TextPage) -> None:
        self._pages[url] = page
        self._room -= _size(page)
        while self._room < 0:
            _, oldest = self._pages.popitem(last=False)
            self._room += _size(oldest)


def _size(page: TextPage) -> int:
    return len(page.text) + sum(len(link.text) + len(link.url) for link in page.links)
