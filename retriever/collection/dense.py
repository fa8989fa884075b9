"""Dense retrieval in a collection: opens, updates and searches its vectors, wherever they are stored."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import CollectionError
from citewell.retriever.collection.encoding import EncodingProgress, encode_pages, encoding_of
from citewell.retriever.collection.postgres import PostgresVectors
from citewell.retriever.collection.store import PageStore
from citewell.retriever.collection.vector_files import VectorFiles
from citewell.retriever.collection.vectors import Encoding, PassageMatch, VectorIndex
from citewell.retriever.encoder.encoder import DualEncoder

FILES = "files"
POSTGRES = "postgres"


@dataclass(frozen=True, slots=True)
class VectorStoreConfig:
    """Where vectors are stored: in PostgreSQL at `url`, or in files beside the pages if it is empty.

    `threads` is the number of threads that build an index.
    """

    url: str = ""
    threads: int = 1

    @property
    def kind(self) -> str:
        """`FILES` or `POSTGRES`, as `PageStore.vectors` returns it."""
        return POSTGRES if self.url else FILES


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


def open_dense(
    folder: Path, storage: str, encoder: Callable[[], DualEncoder], config: VectorStoreConfig
) -> DenseSearch | None:
    """Open the vectors of the collection in `folder` for searching; None if it has none.

    `storage` is what `PageStore.vectors` returns. The encoder is loaded only if there are vectors. Raises
    `CollectionError` if they come from another encoder, are damaged, or cannot be reached.
    """
    if not storage:
        return None
    if storage == POSTGRES and not config.url:
        raise _no_url(folder)
    loaded = encoder()
    return DenseSearch(_open(folder, storage, encoding_of(loaded), config), loaded)


@contextmanager
def updating(
    folder: Path,
    store: PageStore,
    encoder: DualEncoder,
    config: VectorStoreConfig,
    *,
    dense: bool,
    repair: bool,
) -> Iterator[Callable[[Callable[[EncodingProgress], None]], EncodingProgress]]:
    """Open the vectors of a collection for writing; yield a function that brings them up to date.

    The function takes a progress callback. Vectors of another encoder, or in another storage, stay until the
    new ones are complete. `dense` means that the user asked for vectors explicitly; without it, vectors in
    PostgreSQL are not moved to files just because its URL is not set. `repair` deletes damaged vectors, so
    that they are encoded again. The caller holds the collection's lock.
    """
    if store.vectors() == POSTGRES and not config.url and not dense:
        raise _no_url(folder)
    if repair:
        VectorFiles.repair(folder / "vectors")
    vectors = _open(folder, config.kind, encoding_of(encoder), config, make=True)

    def update(on_progress: Callable[[EncodingProgress], None]) -> EncodingProgress:
        store.set_vectors(config.kind)
        encoded = encode_pages(store, vectors, encoder, on_progress)
        vectors.complete()
        if config.kind != FILES:
            shutil.rmtree(folder / "vectors", ignore_errors=True)
        return encoded

    try:
        yield update
    finally:
        vectors.close()


def encodings(folder: Path, storage: str, config: VectorStoreConfig) -> list[Encoding]:
    """Return the encoders whose vectors the collection has; `storage` is what `PageStore.vectors` returns.

    Raises `CollectionError` if the vectors are damaged or cannot be reached.
    """
    if storage == POSTGRES:
        if not config.url:
            raise _no_url(folder)
        return PostgresVectors.encodings(config.url, folder.name)
    return VectorFiles.encodings(folder / "vectors")


def drop_vectors(folder: Path, store: PageStore, config: VectorStoreConfig) -> None:
    """Delete the vectors of a collection, which is then searched by words only.

    If the URL of PostgreSQL is not set, vectors there are only forgotten, since the server may be gone.
    """
    if store.vectors() == POSTGRES and config.url:
        PostgresVectors.drop(config.url, folder.name)
    store.set_vectors("")
    shutil.rmtree(folder / "vectors", ignore_errors=True)


def _open(
    folder: Path, storage: str, encoding: Encoding, config: VectorStoreConfig, *, make: bool = False
) -> VectorIndex:
    if storage == POSTGRES:
        return PostgresVectors(config.url, folder.name, encoding, make=make)
    return VectorFiles(folder / "vectors", encoding, make=make, threads=config.threads)


def _no_url(folder: Path) -> CollectionError:
    return CollectionError(
        f"The vectors of the collection {folder.name!r} are in PostgreSQL, but its URL is not set.",
        "Set collection.vectors, for example with CITEWELL_COLLECTION__VECTORS; or store the vectors in "
        f"files: citewell index --collection {folder.name} --dense",
    )
