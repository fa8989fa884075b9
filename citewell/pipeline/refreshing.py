"""The refresh of a collection: its folders, files, sites and links are read again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from citewell.core.errors import FetchError, InputError
from citewell.core.settings import Settings
from citewell.core.stopping import StopSignal
from citewell.core.types import Failure
from citewell.pipeline.adding import fetched_document
from citewell.pipeline.fetching import sandbox_limits
from citewell.pipeline.indexing import OnProgress, index_source
from citewell.retriever.collection.adding import ADDED, add_documents
from citewell.retriever.collection.crawl import is_gone
from citewell.retriever.collection.indexing import Indexer, Report
from citewell.retriever.collection.protocol import CollectionStore
from citewell.retriever.collection.sources import SourceDocument


class RefreshedSource(NamedTuple):
    """A source that was read again, and what that changed."""

    source: str
    report: Report


def sources_to_refresh(store: CollectionStore) -> list[str]:
    """Return the sources that can be read again: not the documents that were handed over, unless by links.

    Raises `InputError` if there are none.
    """
    sources = [source for source in store.sources() if source != ADDED or _links(store)]
    if not sources:
        raise InputError(
            f"The collection {store.name!r} has no folder, site or link to read again.",
            "Documents that were added stay as they are: add a new version under the same name.",
        )
    return sources


def refresh(
    indexer: Indexer,
    settings: Settings,
    on_progress: OnProgress,
    *,
    stop: StopSignal | None = None,
    within: Path | None = None,
    check: Callable[[str], None] = lambda source: None,
) -> Iterator[RefreshedSource]:
    """Read all sources of a collection again, in a thread without an event loop, and yield each at its end.

    Pages whose files are gone, or that the web answers with 404 or 410, are removed, others that cannot be
    read stay. So do all pages of a source that cannot be read at all, or for which `check` raises
    `InputError`. See `index_source` for `stop` and `within`; raises `InputError` if there is nothing to read
    again, and `asyncio.CancelledError` if it was stopped.
    """
    stop = stop or StopSignal()
    for source in sources_to_refresh(indexer.store):
        if source == ADDED:
            report = _links_again(indexer, settings, on_progress, stop)
        elif _is_deleted_file(indexer.store, source):
            report = Report()
            indexer.forget(source, set(), report)
        else:
            try:
                check(source)
                report = index_source(
                    source, indexer, settings, on_progress, stop=stop, within=within, revisit=True
                )
            except (InputError, FetchError) as error:
                report = Report(failures=[Failure(source, f"{error.message} Its documents stay.")])
        on_progress(report)
        yield RefreshedSource(source, report)


def _links(store: CollectionStore) -> Sequence[str]:
    return [url for url in store.urls(ADDED) if url.startswith(("http://", "https://"))]


def _is_deleted_file(store: CollectionStore, source: str) -> bool:
    """Return whether a source was one file, which its folder does not have any longer."""
    if "://" in source or Path(source).exists() or not Path(source).parent.is_dir():
        return False
    return list(store.urls(source)) == [Path(source).as_uri()]


def _links_again(indexer: Indexer, settings: Settings, on_progress: OnProgress, stop: StopSignal) -> Report:
    report = Report()
    moved: dict[str, str] = {}

    def documents() -> Iterator[SourceDocument | Failure]:
        for url in _links(indexer.store):
            stop.check()
            try:
                document = fetched_document(url, settings, stop)
            except FetchError as error:
                if is_gone(error):
                    indexer.drop(url, report)
                else:
                    yield Failure(url, error.message)
                continue
            if document.url != url:
                moved[url] = document.url
            yield document

    for _ in add_documents(indexer, documents(), report, sandbox_limits(settings)):
        on_progress(report)
    for old, new in moved.items():
        if indexer.store.digests([new]):
            indexer.drop(old, report)
    return report
