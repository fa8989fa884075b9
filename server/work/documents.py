"""The documents of a collection, under their public URLs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from citewell.core.errors import CitewellError, CollectionError, InputError
from citewell.core.settings import Settings
from citewell.core.types import Page
from citewell.pipeline.collections import HANDBOOK, catalog_of, collection_names
from citewell.pipeline.refreshing import sources_to_refresh
from citewell.retriever.collection.dense import drop_page
from citewell.retriever.collection.indexing import indexing
from citewell.retriever.collection.protocol import CollectionStore
from citewell.server.work.pipelines import NoCollectionError
from citewell.server.work.public_urls import PublicUrls


class NoDocumentError(CitewellError):
    """The collection does not have the document."""

    status = 404

    def __init__(self, name: str, url: str) -> None:
        """The document `url` of the collection `name` was requested."""
        super().__init__(
            f"The collection {name!r} has no document {url[:200]!r}.",
            f"GET /v1/collections/{name}/documents lists them.",
        )


class CollectionInUseError(CitewellError):
    """The collection cannot be used at the moment."""

    status = 409


class FoundDocuments(NamedTuple):
    """Pages of a collection; `next` is the URL after which the next ones come, None at the end."""

    pages: list[Page]
    total: int
    next: str | None = None


def list_documents(
    settings: Settings, name: str, query: str, after: str | None, limit: int
) -> FoundDocuments:
    """Return documents by URL, or the best ones for a query; raises `NoCollectionError`."""
    with opened(settings, name) as store:
        public = PublicUrls({name: store.sources()})
        if query.strip():
            urls, more = [hit.url for hit in store.search(query, limit)], False
        else:
            every = sorted((public.name(url), url) for url in store.digests())
            rest = [pair for pair in every if after is None or pair[0] > after]
            urls, more = [url for _, url in rest[:limit]], len(rest) > limit
        pages = store.read(urls)
        found = [public.outside(pages[url]) for url in urls if url in pages]
        return FoundDocuments(found, store.count(), public.name(urls[-1]) if more else None)


def read_document(settings: Settings, name: str, url: str) -> Page:
    """Return a document by its public URL; raises `NoCollectionError` and `NoDocumentError`."""
    with opened(settings, name) as store:
        public = PublicUrls({name: store.sources()})
        page: Page = public.outside(store.read([stored := _stored(store, public, name, url)])[stored])
        return page


def remove_document(settings: Settings, name: str, url: str) -> None:
    """Remove a document by its public URL.

    Raises `NoCollectionError`, `NoDocumentError`, `CollectionInUseError` while a run fills it, and
    `InputError` for the handbook.
    """
    refuse_handbook(name)
    with opened(settings, name) as store:
        stored = _stored(store, PublicUrls({name: store.sources()}), name, url)

    def refuse() -> None:
        raise CollectionInUseError(f"The collection {name!r} is being indexed.", "Try again later.")

    with indexing(catalog_of(settings, name), name, refuse) as indexer:
        drop_page(indexer.store, stored)


def refuse_handbook(name: str) -> None:
    """Raise `InputError` for the collection that nobody changes."""
    if name == HANDBOOK:
        raise InputError("The handbook is a part of Citewell.", "Name a collection of your own.")


def has_sources(settings: Settings, name: str) -> bool:
    """Return whether a collection has folders, files, sites or links that can be read again."""
    with opened(settings, name) as store:
        try:
            return bool(sources_to_refresh(store))
        except InputError:
            return False


@contextmanager
def opened(settings: Settings, name: str) -> Iterator[CollectionStore]:
    """Open a collection; raises `NoCollectionError`, and `CollectionInUseError` if it cannot be opened."""
    catalog = catalog_of(settings, name)
    if catalog.version(name) is None:
        raise NoCollectionError(name, collection_names(settings))
    try:
        store = catalog.open(name)
    except CollectionError as error:  # it is damaged, or being created
        raise CollectionInUseError(error.message, error.hint) from error
    with closing(store):
        yield store


def _stored(store: CollectionStore, public: PublicUrls, name: str, url: str) -> str:
    """Return the URL under which the collection keeps the document with a public URL."""
    found = [each for each in store.read(list(public.addresses(url))) if public.name(each) == url]
    # A file whose source is gone has a name that leads to no folder.
    found = found or [each for each in store.digests() if public.name(each) == url]
    if not found:
        raise NoDocumentError(name, url)
    return found[0]
