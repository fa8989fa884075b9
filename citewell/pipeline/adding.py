"""Single documents for a collection: files that were handed over, and pages behind links."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from citewell.core.addresses import shown_address
from citewell.core.errors import FetchError
from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.core.types import Failure
from citewell.pipeline.fetching import open_fetcher, sandbox_limits
from citewell.retriever.collection.adding import DocumentOutcome, add_documents
from citewell.retriever.collection.indexing import Indexer, Report
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.fetch.urls import web_url


@dataclass(frozen=True, slots=True)
class GivenDocument:
    """A document to add: the name and the place of a file, or a URL as the name of a page to fetch."""

    name: str
    file: Path | None = None


def document_url(collection: str, name: str) -> str:
    """Return the URL under which a collection keeps a file that was handed over."""
    for mark in "%?#":
        name = name.replace(mark, quote(mark))
    return f"collection:{collection}/{shown_address(name)}"


def add_given(
    collection: str,
    given: Sequence[GivenDocument],
    indexer: Indexer,
    settings: Settings,
    on_outcome: Callable[[Report, DocumentOutcome], None],
    stop: StopSignal,
) -> Report:
    """Add documents to a collection, in a thread without an event loop.

    Links are fetched as pages of an answer are, each alone and without the pages that they lead to. Raises
    `asyncio.CancelledError` if it was stopped.
    """
    report = Report()
    documents = _read(collection, given, settings, stop)
    for outcome in add_documents(indexer, documents, report, sandbox_limits(settings)):
        on_outcome(report, outcome)
    return report


def _read(
    collection: str, given: Sequence[GivenDocument], settings: Settings, stop: StopSignal
) -> Iterator[SourceDocument | Failure]:
    for document in given:
        stop.check()
        if document.file is None:
            try:
                yield fetched_document(document.name, settings, stop)
            except FetchError as error:
                yield Failure(document.name, error.message)
        else:
            yield SourceDocument(document_url(collection, document.name), document.file.read_bytes())


def fetched_document(link: str, settings: Settings, stop: StopSignal) -> SourceDocument:
    """Return the page behind a link, in a thread without an event loop; raises `FetchError`."""
    return asyncio.run(_fetched(link, settings, stop))


async def _fetched(link: str, settings: Settings, stop: StopSignal) -> SourceDocument:
    url = str(web_url(link))
    async with open_fetcher(settings, cache=False) as fetcher:
        with stop.cancelling():
            download = await fetcher.fetch(PageRequest(url))
    return SourceDocument(download.url, download.body, download.content_type)
