"""One page by its address, as the pipeline reads the pages of a question."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from citewell.core.errors import InputError
from citewell.core.types import Page
from citewell.pipeline.pipeline import Pipeline
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.memory_budget import Lease
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.search.query import Query
from citewell.retriever.search.urls import in_domains


async def read_page(pipeline: Pipeline, address: str) -> Page:
    """Return the page at an address: from the searched collection if that has it, else from the web.

    Raises `InputError` if the filters of the search leave its site out, `FetchError` and `ExtractionError`.
    """
    address = address.strip()
    pages = pipeline.search.pages
    if pages is not None and (stored := await asyncio.to_thread(pages.page, address)):
        return stored
    query = pipeline.search.query
    _check_site(address, query)
    fetch = HedgedFetch(pipeline.fetch, after=None, max_hedges=1)
    with Lease(pipeline.memory) as lease:
        download = await fetch(PageRequest(address, lease))
        _check_site(download.url, query)
        page = await pipeline.extractor.extract(download.body, download.url, download.content_type)
        return replace(page, read=download.day)


def _check_site(address: str, query: Query) -> None:
    if in_domains(address, query.exclude_sites) or (query.sites and not in_domains(address, query.sites)):
        raise InputError(
            f"Pages of this site are left out: {address}",
            "The settings search.sites and search.deny_domains say which sites are read.",
        )
