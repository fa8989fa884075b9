"""The indexing of one source into a collection: a file, a folder, or a crawled site."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from citewell.core import running
from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.pipeline.fetching import open_extractor, open_fetcher, sandbox_limits
from citewell.retriever.collection.crawl import CrawlLimits, crawl
from citewell.retriever.collection.indexing import Indexer, Report, index_documents
from citewell.retriever.collection.sources import read_source
from citewell.retriever.extract.sandbox import Sandbox
from citewell.retriever.fetch.hedge import HedgedFetch

T = TypeVar("T")

OnProgress = Callable[[Report], None]
"""Receives the report of an indexing run so far."""


def index_source(
    source: str,
    indexer: Indexer,
    settings: Settings,
    on_progress: OnProgress,
    *,
    stop: StopSignal | None = None,
    within: Path | None = None,
    revisit: bool = False,
) -> Report:
    """Index a file, a folder, or the site of a URL, in a thread without an event loop.

    `stop` ends a crawl at once and other work after the present documents. Files that are not in the folder
    `within`, because links lead out of it, are not read. `revisit` is that of `crawl`. Raises `InputError` if
    there is nothing to index, `FetchError` if a site cannot be fetched, and `asyncio.CancelledError` if it
    was stopped.
    """
    stop = stop or StopSignal()
    if "://" in source:
        return running.run(_crawl(source, indexer, settings, on_progress, stop, revisit))
    path = Path(source)
    # A path need not be Unicode; SQLite's text must be.
    name = str(path.resolve()).encode(errors="backslashreplace").decode()
    documents = _until(stop, read_source(path, within))
    return index_documents(
        indexer, name, documents, sandbox=sandbox_limits(settings), on_progress=on_progress
    )


def _until(stop: StopSignal, documents: Iterable[T]) -> Iterator[T]:
    for document in documents:
        stop.check()
        yield document


async def _crawl(
    start: str,
    indexer: Indexer,
    settings: Settings,
    on_progress: OnProgress,
    stop: StopSignal,
    revisit: bool,
) -> Report:
    limits = CrawlLimits(settings.crawl.pages, settings.crawl.depth)
    async with (
        open_fetcher(settings, spacing=settings.crawl.delay, cache=False) as fetcher,
        Sandbox(sandbox_limits(settings)) as sandbox,
        open_extractor(settings, fetcher, sandbox) as extractor,
    ):
        with stop.cancelling():
            return await crawl(
                start,
                indexer,
                fetch=HedgedFetch(fetcher.fetch, after=None, max_hedges=limits.pages),
                wait=fetcher.wait,
                extractor=extractor,
                limits=limits,
                revisit=revisit,
                on_progress=on_progress,
            )
