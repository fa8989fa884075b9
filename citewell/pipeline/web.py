"""The web as the settings describe it, for the text browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from citewell.browser.live_web import LiveWeb
from citewell.browser.orders import without_orders
from citewell.browser.page import TextPage
from citewell.browser.reading import PageReader
from citewell.core.settings import Settings
from citewell.pipeline.handbook import is_of_handbook
from citewell.pipeline.parts import Parts, open_parts
from citewell.pipeline.providers import OpenedSearch
from citewell.retriever.search.query import Query


def web_of(parts: Parts, search: OpenedSearch, query: Query | None = None) -> LiveWeb:
    """Return the web that `search` finds, without the orders of its pages to language models.

    `query` has other filters than the search's own. Raises `InputError` if a package that browsing needs is
    not installed.
    """

    def guard(page: TextPage) -> TextPage:
        return page if is_of_handbook(page.url) else without_orders(page, parts.orders)

    return LiveWeb(
        search.metasearch,
        search.pages,
        parts.fetcher.fetch,
        PageReader(parts.sandbox).read,
        query=query or search.query,
        guard=guard,
        memory=parts.memory,
    )


@asynccontextmanager
async def open_web(settings: Settings) -> AsyncGenerator[LiveWeb, None]:
    """Open the web of the settings alone, without a pipeline; raises as `open_parts` and `web_of` do."""
    async with open_parts(settings) as parts:
        yield web_of(parts, parts.search())
