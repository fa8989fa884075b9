"""The protocol of collections: a catalog names them, and a store has the pages, words and vectors of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from citewell.core.types import Page
from citewell.retriever.collection.frontier import Frontier
from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.vectors import Encoding, VectorIndex


class CollectionVersion(NamedTuple):
    """What tells two states of a collection apart."""

    identity: str
    """Differs if a collection was deleted and created again."""
    content: str
    """Differs after a run that changed pages."""


class CollectionStore(Protocol):
    """One collection, to be searched. All methods raise `CollectionError`, and any thread may call them."""

    name: str

    def read(self, urls: Sequence[str]) -> Mapping[str, Page]:
        """Return the pages at these URLs that the collection has."""
        ...

    def search(self, query: str, limit: int) -> list[PageHit]:
        """Return the `limit` best pages by words for a plain-text query; operators have no meaning."""
        ...

    def frequency(self, word: str) -> int:
        """Return how many passages have the word, in any form of its stem."""
        ...

    def titles_near(self, word: str, edits: int) -> Sequence[str]:
        """Return titles with a word that at most `edits` edits turn into `word`."""
        ...

    def digests(self, urls: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the URLs of these or all pages, with the digests of the bytes they were extracted from."""
        ...

    def count(self) -> int:
        """Return the number of pages."""
        ...

    def sources(self) -> Sequence[str]:
        """Return the folders, files and start URLs that pages came from."""
        ...

    def urls(self, source: str) -> Sequence[str]:
        """Return the URLs of the pages of a source, sorted."""
        ...

    def size(self) -> int:
        """Return the number of bytes stored."""
        ...

    def is_dense(self) -> bool:
        """Return whether the passages have vectors, or are to have them."""
        ...

    def encodings(self) -> Sequence[Encoding]:
        """Return the encoders of the stored vectors."""
        ...

    def vectors(self, encoding: Encoding) -> VectorIndex:
        """Open the vectors of this encoder for searching."""
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


class CollectionWriter(CollectionStore, Protocol):
    """One collection, while a run fills it. Every write is one transaction.

    Several runs may write at once where the store allows it. They share the work by claims: a claim lasts
    until it is released, or until the process ends.
    """

    def claim(self, stage: str, urls: Sequence[str]) -> set[str]:
        """Return those of the URLs that no other run has claimed for this stage of the work."""
        ...

    def release(self, stage: str, urls: Iterable[str]) -> None:
        """Release claimed URLs."""
        ...

    def put(self, source: str, pages: Sequence[tuple[Page, str]]) -> None:
        """Write pages, each with the digest of its bytes, replacing existing ones."""
        ...

    def drop(self, url: str) -> bool:
        """Delete one page; return whether there was one."""
        ...

    def forget(self, source: str, keep: set[str]) -> Sequence[str]:
        """Delete the pages of `source` that are not in `keep`; return their URLs."""
        ...

    def commit(self) -> None:
        """Make everything written so far searchable."""
        ...

    def frontier(self, start: str) -> Frontier:
        """Open the queue of the crawl from `start`."""
        ...

    def may_be_dense(self) -> bool:
        """Return whether the passages may have vectors without being told: nobody has decided on them."""
        ...

    def set_dense(self, dense: bool) -> None:
        """Note whether the passages are to have vectors; if not, delete them."""
        ...

    def make_vectors(self, encoding: Encoding) -> VectorIndex:
        """Open the vectors of this encoder for writing, creating them if there are none."""
        ...


class Catalog(Protocol):
    """All collections of one place. Raises `CollectionError`, and `InputError` for a name that is invalid."""

    def names(self) -> Sequence[str]:
        """Return the names of all collections, sorted."""
        ...

    def version(self, name: str) -> CollectionVersion | None:
        """Return the version of a collection; None if it does not exist."""
        ...

    def open(self, name: str) -> CollectionStore:
        """Open a collection to search it."""
        ...

    def writing(
        self, name: str, on_wait: Callable[[], None] = lambda: None, *, rebuild: bool = False
    ) -> AbstractContextManager[CollectionWriter]:
        """Open a collection to fill it, creating it if it does not exist.

        Calls `on_wait` if it has to wait for another run. `rebuild` rebuilds what is derived from the stored
        pages, and repairs or deletes damaged vectors.
        """
        ...

    def remove(self, name: str) -> None:
        """Delete a collection and everything in it."""
        ...
