"""The web as the settings describe it, for the text browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from citewell.browser.live_web import LiveWeb
from citewell.browser.reading import PageReader
from citewell.core.settings import Settings
from citewell.pipeline.build import open_fetcher, sandbox_limits
from citewell.pipeline.providers import OpenedSearch, open_search
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.fetch.page_request import PageFetch
from citewell.retriever.search.query import Query


class Webs:
    """Makes webs of several searches, which share a fetcher, a sandbox and the room for pages."""

    def __init__(self, get: PageFetch, sandbox: Sandbox, room: MemoryBudget) -> None:
        self._get = get
        self._sandbox = sandbox
        self._room = room

    def over(self, search: OpenedSearch, query: Query | None = None) -> LiveWeb:
        """The web that a search finds; `query` has other filters than the search's own.

        Raises `InputError` where a package that browsing needs is not installed.
        """
        return LiveWeb(
            search.metasearch,
            search.pages,
            self._get,
            PageReader(self._sandbox).read,
            query=query or search.query,
            memory=self._room,
        )


@asynccontextmanager
async def open_webs(settings: Settings) -> AsyncGenerator[Webs, None]:
    """The fetcher with its guard and cache, and the sandbox of the settings.

    Its connections and processes are closed at the end. Raises what `citewell.pipeline.build.open_pipeline`
    raises of these parts.
    """
    async with open_fetcher(settings) as fetcher, Sandbox(sandbox_limits(settings)) as sandbox:
        yield Webs(fetcher.fetch, sandbox, MemoryBudget(page_bytes=settings.fetch.max_bytes))


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncGenerator[LiveWeb, None]:
    """The search of the settings and all that `open_webs` opens, as one `Web`; raises as `Webs.over` too."""
    async with open_search(settings) as search, open_webs(settings) as webs:
        yield webs.over(search)
