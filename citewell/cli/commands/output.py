"""Files that commands write what they measured to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from citewell.core.errors import CitewellError, InputError


def check_folders(*files: Path | None) -> None:
    """Raise `InputError` where the folder of a file is missing, before anything is measured."""
    for path in files:
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(
                f"There is no folder {path.absolute().parent} to write {path.name} to.", "Make it first."
            )


@contextmanager
def told(text: str) -> Iterator[None]:
    """Print `text` after files were written, in any case, since it took long to measure.

    Raises `CitewellError` for a file that cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise CitewellError(
            f"{error.filename} cannot be written: {error.strerror}.",
            "Free some space, or name another place.",
        ) from error
    finally:
        click.echo(text)


def replace(file: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    partial = file.with_name(f".{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)
