"""The encoding of a collection, on a terminal and for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from citewell.pipeline.dense import Encoded
    from citewell.retriever.collection.encoding import EncodingProgress

_EVERY = 0.2  # seconds between two lines of progress


def encoding_progress() -> Callable[[EncodingProgress], None]:
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


def show_encoded(collection: str, encoded: Encoded, *, as_json: bool) -> None:
    """Print what was encoded."""
    made = encoded.progress
    if as_json:
        numbers = {"passages": made.passages, "seconds": round(made.seconds, 1)}
        click.echo(json.dumps({"collection": collection, "encoder": encoded.encoder, "encoded": numbers}))
        return
    click.echo(
        f"Vectors: {made.passages:,} passages encoded with {encoded.encoder} in {made.seconds:.1f} s, "
        f"{made.reused:,} reused, {made.pages_removed:,} pages removed"
    )
