"""The encoding of a collection's passages, after a run has filled it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from citewell.core.errors import CitewellError
from citewell.core.settings import Settings
from citewell.pipeline.providers import configured_encoder
from citewell.retriever.collection.dense import is_small, updating
from citewell.retriever.collection.encoding import EncodingProgress, encoding_of
from citewell.retriever.collection.protocol import CollectionWriter

_LOG = logging.getLogger(__name__)


class Encoded(NamedTuple):
    """What was encoded, and the name of the encoder."""

    encoder: str
    progress: EncodingProgress


Encode = Callable[[], Encoded | None]
"""Brings the vectors of a collection up to date; returns None if it has none."""


@contextmanager
def dense_indexing(
    store: CollectionWriter,
    settings: Settings,
    *,
    dense: bool | None,
    on_progress: Callable[[EncodingProgress], None] = lambda encoded: None,
    tell: Callable[[str], None] = _LOG.warning,
) -> Iterator[Encode]:
    """Prepare to encode a collection, and return the update to run once its pages are stored.

    `dense` is the user's choice: True for vectors, False for none, None for what the collection has. Then a
    small collection for which nobody has chosen gets vectors if it can. `on_progress` is called after each
    batch, and may raise an error to end the run; `tell` gets messages. Errors of the encoder, the vectors or
    their database are raised before any page is read.
    """
    if dense is False:
        store.set_dense(False)
    if dense or store.is_dense():
        with _encoding(store, settings, on_progress, tell) as encode:
            yield encode
        return

    def encode_if_small() -> Encoded | None:
        if not store.may_be_dense() or not is_small(store, settings.collection.dense_up_to):
            return None
        try:
            with _encoding(store, settings, on_progress, tell) as encode:
                return encode()
        except CitewellError as error:
            tell(f"Only the words of {store.name} are searched: it was not encoded. {error}")
            return None

    yield encode_if_small


@contextmanager
def _encoding(
    store: CollectionWriter,
    settings: Settings,
    on_progress: Callable[[EncodingProgress], None],
    tell: Callable[[str], None],
) -> Iterator[Callable[[], Encoded]]:
    encoder = configured_encoder(
        settings, on_step=lambda model, step: tell(f"Preparing {model} (once): {step} …")
    )
    with updating(store, encoder) as update:
        others = set(store.encodings()) - {encoding_of(encoder)}
        for name in sorted(other.name for other in others):
            tell(
                f"The vectors of {store.name} were made by {name}; all passages are encoded again with "
                f"{encoder.name}, as it is now."
            )
        yield lambda: Encoded(encoder.name, update(on_progress))
