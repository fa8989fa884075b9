"""One page by its address, as the pipeline reads the pages of a question."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from citewell.core.errors import InputError
from citewell.core.types import Page, Reference
from citewell.pipeline.pipeline import Pipeline
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.memory_budget import Lease
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.search.query import Query

_CHARACTERS = 12_000  # of the passages that are read at a time


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a page: passages that follow each other, with their orders marked.

    `passages` are numbered by their places in the page, from 1. `byline` has the author of the page as its
    title, with orders marked like those of a passage.
    """

    page: Page
    byline: Reference
    passages: tuple[Reference, ...]


async def read_part(pipeline: Pipeline, page: Page, start: int) -> PagePart:
    """Return as many passages of a page as are read at a time, from number `start` on.

    Raises `InputError` if there are fewer.
    """
    if start > len(page.passages):
        raise InputError(f"The page has {len(page.passages)} parts.", "Use a smaller `start`.")
    chosen = [Reference(0, page.url, page.author, "", 0.0)]
    room = _CHARACTERS
    for number, passage in enumerate(page.passages[start - 1 :], start=start):
        room -= len(passage.text)
        if room < 0 and number > start:
            break
        chosen.append(Reference(number, page.url, page.title, passage.text, 0.0, headings=passage.headings))
    byline, *passages = await pipeline.marked(chosen)
    return PagePart(page, byline, tuple(passages))


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
    if not query.allows(address):
        raise InputError(
            f"Pages of this site are left out: {address}",
            "The settings search.sites and search.deny_domains say which sites are read.",
        )
