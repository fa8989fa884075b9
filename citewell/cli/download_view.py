"""Progress of a download: a bar on a terminal, a line per tenth elsewhere; both on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from citewell.core.models.transfer import OnBytes


@contextmanager
def download_progress(name: str) -> Iterator[OnBytes]:
    """Show how much of a model has arrived."""
    if sys.stderr.isatty():
        with _bar(name) as on_bytes:
            yield on_bytes
        return
    shown = -1

    def count(done: int, total: int) -> None:
        nonlocal shown
        tenth = done * 10 // max(total, 1)
        if tenth > shown:
            shown = tenth
            click.echo(f"{name}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB", err=True)

    yield count


@contextmanager
def _bar(name: str) -> Iterator[OnBytes]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        row = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(row, completed=done, total=total)
