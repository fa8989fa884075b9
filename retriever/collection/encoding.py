"""Encodes the passages of a collection: each text once, and only new or changed pages."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from citewell.core.errors import ModelError
from citewell.core.text import encoded_text
from citewell.core.types import Page
from citewell.retriever.collection.protocol import CollectionWriter
from citewell.retriever.collection.vectors import EncodedPage, Encoding, Stored, VectorIndex
from citewell.retriever.encoder.encoder import DualEncoder

_BATCH = 512  # passages encoded and stored together: one or two seconds of work
_STAGE = "encode"  # of the claims
_PAGES = 16  # claimed together
_WAIT = 0.5  # seconds


@dataclass
class EncodingProgress:
    """The progress of encoding a collection."""

    pages: int = 0
    """New or changed pages to process."""
    pages_done: int = 0
    passages: int = 0
    """Passages encoded."""
    reused: int = 0
    """Passages of those pages whose vectors were already stored."""
    pages_removed: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Passages per second."""
        return self.passages / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float:
        """Estimated seconds until the end."""
        return self.seconds * (self.pages - self.pages_done) / max(self.pages_done, 1)


def encoding_of(encoder: DualEncoder) -> Encoding:
    """Return the key under which vectors of this encoder are stored."""
    return Encoding(encoder.name, encoder.fingerprint, encoder.dimension)


def encode_pages(
    store: CollectionWriter,
    vectors: VectorIndex,
    encoder: DualEncoder,
    on_progress: Callable[[EncodingProgress], None] = lambda encoded: None,
) -> EncodingProgress:
    """Bring `vectors` up to date with the pages of `store`.

    Each batch is stored before the next one begins, so that an interrupted run can resume. Returns when all
    pages have vectors, by this run or by others at the same time. Raises `ModelError` if the encoder does not
    return finite vectors of its dimension.
    """
    encoded = EncodingProgress()
    while todo := _remaining(store, vectors, encoded):
        encoded.pages = encoded.pages_done + len(todo)
        before = encoded.pages_done
        for batch in _claimed(store, vectors, todo):
            _encode_batch(vectors, encoder, batch, encoded)
            store.release(_STAGE, [page.url for page, _ in batch])
            on_progress(encoded)
        if encoded.pages_done == before:  # other runs have claimed the rest
            time.sleep(_WAIT)
    return encoded


def _remaining(store: CollectionWriter, vectors: VectorIndex, encoded: EncodingProgress) -> list[str]:
    """Return the pages whose vectors are missing or old, and delete the vectors of pages that are gone."""
    stored, known = store.digests(), vectors.pages()
    gone = [url for url in known if url not in stored]
    vectors.remove(gone)
    encoded.pages_removed += len(gone)
    return [url for url, digest in stored.items() if known.get(url) != digest]


def _claimed(
    store: CollectionWriter, vectors: VectorIndex, todo: Sequence[str]
) -> Iterator[list[tuple[Page, str]]]:
    """Yield batches of pages that this run has claimed, with their digests."""
    batch: list[tuple[Page, str]] = []
    for start in range(0, len(todo), _PAGES):
        claimed = store.claim(_STAGE, todo[start : start + _PAGES])
        # Digests are read before pages: the vectors of a page that changes in between count as old.
        stored, known = store.digests(sorted(claimed)), vectors.pages(sorted(claimed))
        pages = store.read([url for url, digest in stored.items() if known.get(url) != digest])
        store.release(_STAGE, claimed - pages.keys())
        batch += [(page, stored[url]) for url, page in pages.items()]
        if sum(len(page.passages) for page, _ in batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _encode_batch(
    vectors: VectorIndex,
    encoder: DualEncoder,
    batch: Sequence[tuple[Page, str]],
    encoded: EncodingProgress,
) -> None:
    stored_vectors = vectors.known([page.url for page, _ in batch])
    passages = [passage for page, _ in batch for passage in page.passages]
    texts = {text_digest(text): text for text in (encoded_text(p.title_path, p.text) for p in passages)}
    missing = [digest for digest in texts if digest not in stored_vectors]
    encoded_now = _encode(encoder, [texts[digest] for digest in missing])
    by_digest = {**stored_vectors, **dict(zip(missing, encoded_now, strict=True))}
    vectors.put([_encoded_page(page, digest, by_digest, encoder.dimension) for page, digest in batch])
    encoded.pages_done += len(batch)
    encoded.passages += len(missing)
    encoded.reused += len(passages) - len(missing)


def _encode(encoder: DualEncoder, texts: list[str]) -> Stored:
    if not texts:
        return np.empty((0, encoder.dimension), dtype=np.float16)
    encoded = np.asarray(encoder.encode_passages(texts))
    if encoded.shape != (len(texts), encoder.dimension):
        raise ModelError(
            f"The encoder {encoder.name} returned an array of shape {encoded.shape} for {len(texts)} "
            f"passages, not {(len(texts), encoder.dimension)}.",
            "Use another encoder; nothing was stored.",
        )
    with np.errstate(over="ignore"):
        halved = encoded.astype(np.float16)
    if not np.isfinite(halved).all():
        raise ModelError(
            f"The encoder {encoder.name} returned vectors with values that are not finite, or exceed 65,504.",
            "Check its weights; nothing of this batch was stored.",
        )
    return halved


def _encoded_page(page: Page, digest: str, by_digest: Mapping[bytes, Stored], dimension: int) -> EncodedPage:
    texts = tuple(text_digest(encoded_text(p.title_path, p.text)) for p in page.passages)
    rows = [by_digest[text] for text in texts]
    matrix = np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float16)
    return EncodedPage(page.url, digest, texts, matrix)


def text_digest(text: str) -> bytes:
    """Return the key of an encoded text among stored vectors."""
    return hashlib.sha256(text.encode()).digest()[:16]
