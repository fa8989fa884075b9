"""The protocol for storing and searching the vectors of a collection's passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import CollectionError
from citewell.retriever.encoder.encoder import Vectors

Stored = NDArray[np.float16]
"""Stored vectors, in half precision: half the memory; inner products differ in the fourth digit."""


class Encoding(NamedTuple):
    """The encoder of vectors: its name, the fingerprint of its weights, and its dimension."""

    name: str
    fingerprint: str
    dimension: int


class EncodedPage(NamedTuple):
    """The vectors of one page.

    `digest` is that of the stored page, `texts` are the digests of its n encoded passages in reading order,
    and `vectors` is an (n, dimension) array.
    """

    url: str
    digest: str
    texts: tuple[bytes, ...]
    vectors: Stored


class PassageMatch(NamedTuple):
    """A passage of a page, numbered from 0, and its inner product with the question."""

    url: str
    passage: int
    score: float


class VectorIndex(Protocol):
    """The vectors of one collection's passages from one encoder.

    `put` and `remove` are transactions: once they return, their changes are durable. All methods raise
    `CollectionError`.
    """

    def is_complete(self) -> bool:
        """Return whether `complete` has ever been called; before that, there is nothing to search."""
        ...

    def count(self) -> int:
        """Return the number of vectors."""
        ...

    def pages(self, urls: Sequence[str] | None = None) -> Mapping[str, str]:
        """Return the URLs of these or all pages, with the digests given to `put`."""
        ...

    def known(self, urls: Iterable[str]) -> Mapping[bytes, Stored]:
        """Return the vectors of some pages, by the digests of the encoded texts."""
        ...

    def put(self, pages: Sequence[EncodedPage]) -> None:
        """Store the vectors of pages, replacing earlier ones."""
        ...

    def remove(self, urls: Sequence[str]) -> None:
        """Delete the vectors of pages."""
        ...

    def complete(self) -> None:
        """Build the index for searching, and delete the vectors of other encoders."""
        ...

    def search(self, vector: Vectors, limit: int) -> list[PassageMatch]:
        """Return the `limit` passages with the largest inner product with `vector`, best first.

        Approximate for large collections; see docs/collections.md.
        """
        ...

    def close(self) -> None:
        """Close files and connections."""
        ...


class NoVectorsError(CollectionError):
    """A collection has no vectors of the encoder."""


def no_vectors(collection: str, wanted: Encoding, stored: Sequence[Encoding]) -> NoVectorsError:
    """Return the error for a collection without vectors of `wanted`.

    `stored` are the encoders that it has.
    """
    if not stored:
        return NoVectorsError(
            f"The vectors of the collection {collection!r} are missing.",
            f"Encode its passages: citewell index --collection {collection} --dense",
        )
    names = ", ".join(f"{encoding.name} (fingerprint {encoding.fingerprint})" for encoding in stored)
    hint = f"Encode its passages again: citewell index --collection {collection} --dense"
    if wanted.name not in [encoding.name for encoding in stored]:
        hint += f"; or use the encoder of the stored vectors: --encoder {stored[0].name}"
    return NoVectorsError(
        f"The vectors of the collection {collection!r} are from the encoder {names}, not from "
        f"{wanted.name} (fingerprint {wanted.fingerprint}).",
        hint,
    )
