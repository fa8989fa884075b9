"""Dense retrieval in a collection: opens, updates and searches its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import numpy as np

from citewell.core.text import encoded_text
from citewell.core.types import Page
from citewell.retriever.collection.encoding import EncodingProgress, encode_pages, encoding_of, text_digest
from citewell.retriever.collection.protocol import CollectionStore, CollectionWriter
from citewell.retriever.collection.vectors import PassageMatch, VectorIndex
from citewell.retriever.encoder.encoder import DualEncoder, Vectors

_PAGES = 50  # read at a time


class DenseSearch:
    """Finds the passages of a collection with the largest inner product with a question."""

    def __init__(self, vectors: VectorIndex, encoder: DualEncoder) -> None:
        """Search `vectors`, which must come from `encoder`."""
        self._vectors = vectors
        self._encoder = encoder
        self._complete = False

    @property
    def is_complete(self) -> bool:
        """Whether all passages have been encoded; False after an interrupted first run."""
        self._complete = self._complete or self._vectors.is_complete()
        return self._complete

    def search(self, question: str, limit: int) -> list[PassageMatch]:
        """Return the `limit` passages with the largest inner product with the question, best first."""
        (vector,) = self._encoder.encode_questions([question])
        return self._vectors.search(vector, limit)

    def vectors_of(self, page: Page) -> Vectors | None:
        """Return the vectors of the page's n passages, an (n, dimension) array, or None if one is missing."""
        known = self._vectors.known([page.url])
        digests = [text_digest(encoded_text(passage.title_path, passage.text)) for passage in page.passages]
        if not digests or any(digest not in known for digest in digests):
            return None
        return np.stack([known[digest] for digest in digests]).astype(np.float32)


def open_dense(store: CollectionStore, encoder: Callable[[], DualEncoder]) -> DenseSearch | None:
    """Open the vectors of a collection for searching; None if it has none.

    The encoder is loaded only if there are vectors. Raises `NoVectorsError` if they come from another
    encoder, and `CollectionError` if they are damaged.
    """
    if not store.is_dense():
        return None
    loaded = encoder()
    return DenseSearch(store.vectors(encoding_of(loaded)), loaded)


def drop_page(store: CollectionWriter, url: str) -> None:
    """Delete a page and its vectors, of all encoders."""
    store.drop(url)
    for encoding in store.encodings():
        with closing(store.make_vectors(encoding)) as vectors:
            vectors.remove([url])


def is_small(store: CollectionStore, most: int) -> bool:
    """Return whether a collection has passages, and at most so many."""
    passages, urls = 0, list(store.digests())
    for start in range(0, len(urls), _PAGES):
        pages = store.read(urls[start : start + _PAGES])
        passages += sum(len(page.passages) for page in pages.values())
        if passages > most:
            return False
    return passages > 0


@contextmanager
def updating(
    store: CollectionWriter, encoder: DualEncoder
) -> Iterator[Callable[[Callable[[EncodingProgress], None]], EncodingProgress]]:
    """Open the vectors of a collection for writing; yield a function that brings them up to date.

    The function takes a progress callback. Vectors of another encoder stay until the new ones are complete.
    """
    vectors = store.make_vectors(encoding_of(encoder))

    def update(on_progress: Callable[[EncodingProgress], None]) -> EncodingProgress:
        store.set_dense(True)
        encoded = encode_pages(store, vectors, encoder, on_progress)
        vectors.complete()
        return encoded

    try:
        yield update
    finally:
        vectors.close()
