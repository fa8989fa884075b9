"""The encoding of a collection's passages for `citewell index`, with its progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

import click

from citewell.core.settings import Settings
from citewell.pipeline.providers import configured_encoder
from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.encoding import EncodingProgress, encoding_of
from citewell.retriever.collection.protocol import CollectionWriter
from citewell.retriever.encoder.encoder import DualEncoder

_EVERY = 0.2  # seconds between two lines of progress


class Encode(Protocol):
    """An update of the vectors that reports its work."""

    def __call__(self, *, as_json: bool) -> None:
        """Update the vectors; `as_json` is for programs."""
        ...


@contextmanager
def dense_indexing(
    store: CollectionWriter,
    settings: Settings,
    *,
    dense: bool | None,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Encode]:
    """Prepare to encode a collection, and return the update to run once its pages are stored.

    `dense` is the user's choice: True for vectors, False for none, None for what the collection has. `check`
    is called after each batch, and may raise an error to end the run. Errors
    of the encoder, the vectors or their database are raised before any page is read.
    """
    if dense is False:
        store.set_dense(False)
    if dense is False or not (dense or store.is_dense()):
        yield lambda *, as_json: None
        return
    encoder = configured_encoder(settings, on_step=_tell_step)
    with updating(store, encoder) as update:
        others = set(store.encodings()) - {encoding_of(encoder)}
        for name in sorted(other.name for other in others):
            click.echo(
                f"The vectors of {store.name} were made by {name}; all passages are encoded again with "
                f"{encoder.name}, as it is now.",
                err=True,
            )
        show = _progress()

        def on_progress(encoded: EncodingProgress) -> None:
            show(encoded)
            check()

        yield lambda *, as_json: _show(update(on_progress), store.name, encoder, as_json=as_json)


def _progress() -> Callable[[EncodingProgress], None]:
    """Show the progress on one line of a terminal; print nothing to a pipe."""
    if not sys.stderr.isatty():
        return lambda encoded: None
    last = 0.0

    def show(encoded: EncodingProgress) -> None:
        nonlocal last
        if time.monotonic() - last > _EVERY:
            last = time.monotonic()
            minutes, seconds = divmod(round(encoded.seconds_left), 60)
            text = (
                f"Encoding: {encoded.pages_done:,} of {encoded.pages:,} pages, "
                f"{encoded.rate:.0f} passages/s, {minutes} min {seconds} s left"
            )
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)
        if encoded.pages_done == encoded.pages:
            click.echo("\r\x1b[K", nl=False, err=True)

    return show


def _show(encoded: EncodingProgress, collection: str, encoder: DualEncoder, *, as_json: bool) -> None:
    if as_json:
        numbers = {"passages": encoded.passages, "seconds": round(encoded.seconds, 1)}
        click.echo(json.dumps({"collection": collection, "encoder": encoder.name, "encoded": numbers}))
        return
    click.echo(
        f"Vectors: {encoded.passages:,} passages encoded with {encoder.name} in {encoded.seconds:.1f} s, "
        f"{encoded.reused:,} reused, {encoded.pages_removed:,} pages removed"
    )


def _tell_step(model: str, step: str) -> None:
    click.echo(f"Preparing {model} (once): {step} …", err=True)
