"""Getting a data set: its originals are downloaded, converted and verified, and only then put in place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.data.catalog import DataSet, Original
from benchmarks.data.contents import problem, write
from benchmarks.data.convert import CONVERTERS
from citewell.core.errors import CitewellError
from citewell.core.file_sums import file_sha256
from citewell.core.ranged_download import download, transport_errors

ARRIVING = ".arriving"
"""The folder below that of the data which keeps downloads and converted files until all are verified."""

OnBytes = Callable[[int, int], None]

_AGAIN = "Run the command again: it continues where it was interrupted."


class DataSetError(CitewellError):
    """A data set cannot be fetched, converted or kept, or is not the one that the figures used."""


def problems(folder: Path, data_set: DataSet) -> dict[str, str]:
    """Return what is wrong with each file of a data set below `folder`; empty if nothing is."""
    found = ((file.path, problem(folder, file)) for file in data_set.files)
    return {path: wrong for path, wrong in found if wrong}


def get(data_set: DataSet, folder: Path, on_bytes: Callable[[str], OnBytes]) -> bool:
    """Put the files of a data set below `folder`; return False if they were there already.

    `on_bytes(path)` is called as each original begins to arrive, and returns what is called with its bytes.
    Raises `DataSetError`; until all files of the set are verified, none is put in its place.
    """
    from filelock import FileLock

    if not problems(folder, data_set):
        return False
    if not data_set.converter:
        raise DataSetError(
            f"{data_set.name} has no converter: {data_set.by_hand}.",
            f"Obtain it by hand from {data_set.origin}, or copy its files from someone who has them; "
            f"`python -m benchmarks.data verify {data_set.name}` checks them.",
        )
    arriving = folder / ARRIVING / data_set.name
    with _disk_errors(folder):
        arriving.mkdir(parents=True, exist_ok=True)
        with FileLock(arriving.with_name(f"{data_set.name}.lock")):
            for original in data_set.originals:
                _fetch(original, arriving / "originals", on_bytes)
            _convert(data_set, arriving)
            for file in data_set.files:
                place = folder / file.path
                place.parent.mkdir(parents=True, exist_ok=True)
                (arriving / "converted" / file.path).replace(place)
            shutil.rmtree(arriving)
    return True


def _fetch(original: Original, folder: Path, on_bytes: Callable[[str], OnBytes]) -> None:
    target = folder / original.path
    if target.is_file():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    arriving = target.with_name(f"{target.name}.part")
    try:
        download(original.url, arriving, on_bytes=on_bytes(original.path))
    except transport_errors() as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataSetError(
            f"{original.url} cannot be downloaded: {reason}.", f"Check the network. {_AGAIN}"
        ) from error
    if original.sha256 and (found := file_sha256(arriving)) != original.sha256:
        arriving.unlink()
        raise DataSetError(
            f"{original.url} is not the known file: SHA-256 is {found}, expected {original.sha256}.",
            "It was removed. Run the command again; if that does not help, the origin has changed.",
        )
    arriving.replace(target)


def _convert(data_set: DataSet, arriving: Path) -> None:
    converted, originals = arriving / "converted", arriving / "originals"
    shutil.rmtree(converted, ignore_errors=True)
    try:
        for path, lines in CONVERTERS[data_set.converter](originals):
            write(converted / path, lines)
    except (AssertionError, EOFError, KeyError, TypeError, ValueError) as error:
        shutil.rmtree(arriving)
        raise DataSetError(
            f"The originals of {data_set.name} are not of the known form: {type(error).__name__}: {error}.",
            "They were removed, and nothing was changed. Run the command again; "
            "if that does not help, the origin has changed.",
        ) from error
    if wrong := problems(converted, data_set):
        shutil.rmtree(arriving)
        raise DataSetError(
            f"{data_set.name} is not the data that the figures used: "
            + "; ".join(f"{path}: {text}" for path, text in wrong.items())
            + ".",
            "The download was removed, and nothing was changed.",
        )


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataSetError(
            f"The data cannot be kept in {folder}: {error.strerror or error}.",
            f"Free some space, or name another folder with --to. {_AGAIN}",
        ) from error
