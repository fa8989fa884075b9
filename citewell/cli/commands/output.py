"""The files that commands write their results to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from citewell.core.errors import CitewellError, InputError

T = TypeVar("T")


def check_files(*files: Path | None) -> None:
    """Raise `InputError` if an output file cannot be written. Call it before a long computation."""
    for path in files:
        if path is None:
            continue
        folder = path.absolute().parent
        if not folder.is_dir():
            raise InputError(f"The folder {folder}, for {path.name}, does not exist.", "Create it first.")
        if path.is_dir():
            raise InputError(f"{path} is a folder.", "Name a file.")
        if not os.access(path if path.exists() else folder, os.W_OK):
            raise InputError(f"{path} cannot be written.", "Name another file.")


@contextmanager
def printing(text: str) -> Iterator[None]:
    """Print `text` after the block, which writes files, even if that fails: the results took long to compute.

    Raises `CitewellError` if a file cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise CitewellError(
            f"{error.filename} cannot be written: {error.strerror}.",
            "Free some space, or name another file.",
        ) from error
    finally:
        click.echo(text)


def replace(file: Path, text: str) -> None:
    """Write a file atomically."""
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


def write_results(
    evaluation: T,
    out: Path | None,
    page: Path | None,
    *,
    markdown: Callable[[T], str],
    summary: Callable[[T], str],
    details: Callable[[T], str],
) -> None:
    """Print the tables of an evaluation, and write them to `page` and its JSON to `out`.

    The value of each question is in a file of `details` beside `out`. Raises `CitewellError` if a file cannot
    be written.
    """
    text = markdown(evaluation)
    with printing(text):
        if out is not None:
            replace(out.with_name(f"{out.stem}.details.json"), details(evaluation))
            replace(out, summary(evaluation))
        if page is not None:
            replace(page, text)
