"""The protocol of what keeps and searches the vectors of a collection's passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import CollectionError
from citewell.retriever.encoder.encoder import Vectors

Stored = NDArray[np.float16]
"""Vectors as they are kept: half the memory, and their inner products differ in the fourth digit."""


class Encoding(NamedTuple):
    """Which encoder made vectors: its name, what tells its exact weights, and how long its vectors are."""

    name: str
    fingerprint: str
    dimension: int


class EncodedPage(NamedTuple):
    """The vectors of one page.

    `digest` is that of the stored page, `texts` the digests of its encoded passages in reading order, and
    `vectors` an (n, dimension) array of as many.
    """

    url: str
    digest: str
    texts: tuple[bytes, ...]
    vectors: Stored


class PassageMatch(NamedTuple):
    """A passage of a page, by its number from 0, and its inner product with the question."""

    url: str
    passage: int
    score: float


class VectorIndex(Protocol):
    """The vectors that one encoder made of one collection's passages.

    One process writes at a time, which `citewell.retriever.collection.indexing.Indexer` sees to. `put` and
    `remove` are transactions: what they wrote outlives the process, however it ends. All methods raise
    `CollectionError`.
    """

    def is_complete(self) -> bool:
        """Say whether `complete` was ever reached, so that searching finds more than nothing."""
        ...

    def count(self) -> int:
        """How many vectors there are."""
        ...

    def pages(self) -> Mapping[str, str]:
        """Every page's URL and the digest with which it was put."""
        ...

    def known(self, urls: Iterable[str]) -> Mapping[bytes, Stored]:
        """The vectors of some pages by the digests of the texts that were encoded."""
        ...

    def put(self, pages: Sequence[EncodedPage]) -> None:
        """Keep the vectors of pages; those that a page had before are replaced."""
        ...

    def remove(self, urls: Sequence[str]) -> None:
        """Forget the vectors of pages."""
        ...

    def complete(self) -> None:
        """Make all vectors quick to search, and forget those of other encoders."""
        ...

    def search(self, vector: Vectors, limit: int) -> list[PassageMatch]:
        """The `limit` passages with the largest inner product with `vector`, best first.

        Approximate where there are many; see docs/collections.md.
        """
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


def other_encoder(collection: str, wanted: Encoding, there: Sequence[Encoding]) -> CollectionError:
    """The error for vectors that are not those of the encoder `wanted`; `there` is whose there are."""
    if not there:
        return CollectionError(
            f"The vectors of the collection {collection!r} are not there.",
            f"Encode its passages: citewell index --collection {collection} --dense",
        )
    names = ", ".join(f"{encoding.name} (fingerprint {encoding.fingerprint})" for encoding in there)
    hint = f"Encode its passages anew: citewell index --collection {collection} --dense"
    if wanted.name not in [encoding.name for encoding in there]:
        hint += f" Or use the encoder that made them: --encoder {there[0].name}"
    return CollectionError(
        f"The vectors of the collection {collection!r} were made by the encoder {names}, not by "
        f"{wanted.name} (fingerprint {wanted.fingerprint}).",
        hint,
    )
