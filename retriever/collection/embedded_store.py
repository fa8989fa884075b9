"""A collection in a folder: pages in SQLite, words in a Tantivy index, vectors in files."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from citewell.core.errors import CollectionError
from citewell.core.types import Page
from citewell.retriever.collection.database import DamagedError
from citewell.retriever.collection.embedded_frontier import EmbeddedFrontier
from citewell.retriever.collection.index import SearchIndex
from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.store import PageStore
from citewell.retriever.collection.vector_files import VectorFiles
from citewell.retriever.collection.vectors import Encoding


class EmbeddedStore:
    """The collection in `folder`; implements `CollectionStore`, and `CollectionWriter` under a lock.

    Pages are stored first and indexed later: the next run indexes what an interrupted run has stored.
    """

    def __init__(self, folder: Path, *, make: bool = False, rebuild: bool = False, threads: int = 1) -> None:
        """Open the collection, to write it with `make`; `EmbeddedCatalog` holds the lock.

        `rebuild` rebuilds the search index from the stored pages, whatever its state, and deletes damaged
        vectors. Raises `CollectionError` if the collection is damaged.
        """
        self.name = folder.name
        self._folder = folder
        self._threads = threads
        pages = folder / "pages.db"
        # SQLite reads an empty file as a new database. After a killed first run, no index stands beside it.
        if SearchIndex.exists(folder / "index") and pages.is_file() and not pages.stat().st_size:
            raise DamagedError(
                f"The pages of the collection {self.name!r} are damaged: {pages} is empty.",
                f"Delete {folder} and index its sources again.",
            )
        with ExitStack() as opened:
            self.pages = PageStore(pages)
            opened.callback(self.pages.close)
            exists = SearchIndex.exists(folder / "index")
            is_old = exists and SearchIndex.is_outdated(folder / "index")
            if rebuild:
                VectorFiles.repair(folder / "vectors")
            if rebuild or (make and (is_old or not exists)):
                self._rebuild()
            elif exists:
                self._index = SearchIndex(folder / "index")
                if make:
                    self.commit()
            else:
                raise CollectionError(
                    f"The collection {self.name!r} has no search index.",
                    f"Rebuild it from the stored pages: citewell index --collection {self.name} --rebuild",
                )
            opened.pop_all()

    def read(self, urls: Sequence[str]) -> dict[str, Page]:
        """See `CollectionStore.read`."""
        return {url: page for url in urls if (page := self.pages.page(url))}

    def search(self, query: str, limit: int) -> list[PageHit]:
        """See `CollectionStore.search`."""
        return self._index.search(query, limit)

    def frequency(self, word: str) -> int:
        """See `Vocabulary.frequency`."""
        return self._index.frequency(word)

    def titles_near(self, word: str, edits: int) -> list[str]:
        """See `Vocabulary.titles_near`."""
        pages = (self.pages.page(url) for url in self._index.near(word, edits))
        return [page.title for page in pages if page]

    def digests(self, urls: Sequence[str] | None = None) -> dict[str, str]:
        """See `CollectionStore.digests`."""
        return self.pages.digests(urls)

    def count(self) -> int:
        """See `CollectionStore.count`."""
        return self.pages.count()

    def sources(self) -> list[str]:
        """See `CollectionStore.sources`."""
        return self.pages.sources()

    def urls(self, source: str) -> list[str]:
        """See `CollectionStore.urls`."""
        return self.pages.urls(source)

    def size(self) -> int:
        """See `CollectionStore.size`."""
        return sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())

    def is_dense(self) -> bool:
        """See `CollectionStore.is_dense`."""
        return self.pages.is_dense()

    def encodings(self) -> list[Encoding]:
        """See `CollectionStore.encodings`."""
        return VectorFiles.encodings(self._folder / "vectors")

    def vectors(self, encoding: Encoding) -> VectorFiles:
        """See `CollectionStore.vectors`."""
        return VectorFiles(self._folder / "vectors", encoding, threads=self._threads)

    def close(self) -> None:
        """See `CollectionStore.close`."""
        self.pages.close()

    def claim(self, stage: str, urls: Sequence[str]) -> set[str]:
        """See `CollectionWriter.claim`: all, since only one run writes."""
        return set(urls)

    def release(self, stage: str, urls: Iterable[str]) -> None:
        """See `CollectionWriter.release`."""

    def put(self, source: str, pages: Sequence[tuple[Page, str]]) -> None:
        """See `CollectionWriter.put`."""
        self.pages.put(source, pages)

    def drop(self, url: str) -> bool:
        """See `CollectionWriter.drop`."""
        return self.pages.drop(url)

    def forget(self, source: str, keep: set[str]) -> list[str]:
        """See `CollectionWriter.forget`."""
        return self.pages.forget(source, keep)

    def commit(self) -> None:
        """Bring the index up to date with the pages."""
        unindexed = self.pages.unindexed()
        first = next(unindexed, None)
        if first is not None:
            self._index.update(chain([first], unindexed))
            self.pages.mark_indexed()

    def frontier(self, start: str) -> EmbeddedFrontier:
        """See `CollectionWriter.frontier`."""
        return EmbeddedFrontier(self.pages.database, start)

    def may_be_dense(self) -> bool:
        """See `CollectionWriter.may_be_dense`."""
        return self.pages.may_be_dense()

    def set_dense(self, dense: bool) -> None:
        """See `CollectionWriter.set_dense`."""
        self.pages.set_dense(dense)
        if not dense:
            shutil.rmtree(self._folder / "vectors", ignore_errors=True)

    def make_vectors(self, encoding: Encoding) -> VectorFiles:
        """See `CollectionWriter.make_vectors`."""
        return VectorFiles(self._folder / "vectors", encoding, make=True, threads=self._threads)

    def _rebuild(self) -> None:
        self.pages.mark_all_new()  # first: an interruption after this loses nothing
        SearchIndex.destroy(self._folder / "index")
        self._index = SearchIndex(self._folder / "index")
        self.commit()
