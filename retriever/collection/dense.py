"""The dense side of a collection: where its vectors are, kept up to date and searched."""

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
class Keeping:
    """Where vectors are kept: in PostgreSQL at `url`, or beside the pages where that is empty.

    `threads` is for building an index.
    """

    url: str = ""
    threads: int = 1

    @property
    def place(self) -> str:
        """The place in one word, as `PageStore.vectors` gives it."""
        return POSTGRES if self.url else FILES


class DenseSearch:
    """Finds the passages of one collection whose vectors are nearest to a question's."""

    def __init__(self, vectors: VectorIndex, encoder: DualEncoder) -> None:
        """Search `vectors`, which `encoder` made."""
        self._vectors = vectors
        self._encoder = encoder
        self._complete = False

    @property
    def is_complete(self) -> bool:
        """Whether all passages were encoded once; an interrupted first run leaves it False."""
        self._complete = self._complete or self._vectors.is_complete()
        return self._complete

    def search(self, question: str, limit: int) -> list[PassageMatch]:
        """The `limit` passages with the largest inner product with the question, best first."""
        (vector,) = self._encoder.encode_questions([question])
        return self._vectors.search(vector, limit)


def open_dense(
    folder: Path, place: str, encoder: Callable[[], DualEncoder], keeping: Keeping
) -> DenseSearch | None:
    """Open the vectors of the collection in `folder` for searching; None where it has none.

    `place` is what `PageStore.vectors` says. The encoder is loaded only when there are vectors. Raises
    `CollectionError` when they were made by another encoder, are damaged, or cannot be reached.
    """
    if not place:
        return None
    if place == POSTGRES and not keeping.url:
        raise _no_address(folder)
    loaded = encoder()
    return DenseSearch(_open(folder, place, encoding_of(loaded), keeping), loaded)


@contextmanager
def updating(
    folder: Path, store: PageStore, encoder: DualEncoder, keeping: Keeping, *, dense: bool, repair: bool
) -> Iterator[Callable[[Callable[[EncodingProgress], None]], EncodingProgress]]:
    """Open the vectors of a collection for writing; give a function that brings them up to date.

    The function takes what is told of progress. Vectors of another encoder, or in another place, stay until
    the new ones are complete. `dense` says that the person asks for vectors here and now; without it, a
    collection whose vectors are in PostgreSQL is not moved to files because the address is not set.
    `repair` deletes vectors that are damaged, to be made again. The caller holds the collection's lock.
    """
    if store.vectors() == POSTGRES and not keeping.url and not dense:
        raise _no_address(folder)
    if repair:
        VectorFiles.repair(folder / "vectors")
    vectors = _open(folder, keeping.place, encoding_of(encoder), keeping, make=True)

    def update(on_progress: Callable[[EncodingProgress], None]) -> EncodingProgress:
        store.keep_vectors(keeping.place)
        encoded = encode_pages(store, vectors, encoder, on_progress)
        vectors.complete()
        if keeping.place != FILES:
            shutil.rmtree(folder / "vectors", ignore_errors=True)
        return encoded

    try:
        yield update
    finally:
        vectors.close()


def encodings(folder: Path, place: str, keeping: Keeping) -> list[Encoding]:
    """The encoders whose vectors the collection has; `place` is what `PageStore.vectors` says.

    Raises `CollectionError` when they are damaged, or cannot be reached.
    """
    if place == POSTGRES:
        if not keeping.url:
            raise _no_address(folder)
        return PostgresVectors.encodings(keeping.url, folder.name)
    return VectorFiles.encodings(folder / "vectors")


def drop_vectors(folder: Path, store: PageStore, keeping: Keeping) -> None:
    """Delete the vectors of a collection, which is then searched by words alone.

    Vectors in PostgreSQL are only let go of where its address is not set, since it may be gone for good.
    """
    if store.vectors() == POSTGRES and keeping.url:
        PostgresVectors.drop(keeping.url, folder.name)
    store.keep_vectors("")
    shutil.rmtree(folder / "vectors", ignore_errors=True)


def _open(
    folder: Path, place: str, encoding: Encoding, keeping: Keeping, *, make: bool = False
) -> VectorIndex:
    if place == POSTGRES:
        return PostgresVectors(keeping.url, folder.name, encoding, make=make)
    return VectorFiles(folder / "vectors", encoding, make=make, threads=keeping.threads)


def _no_address(folder: Path) -> CollectionError:
    return CollectionError(
        f"The vectors of the collection {folder.name!r} are in PostgreSQL, and its address is not set.",
        "Set collection.vectors, for example with CITEWELL_COLLECTION__VECTORS; or keep them in files from "
        f"now on: citewell index --collection {folder.name} --dense",
    )
