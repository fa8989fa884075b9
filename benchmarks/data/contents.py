"""Files of data: their content before gzip, its rows and its SHA-256, and how they are written."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from benchmarks.data.catalog import ConvertedFile

_BLOCK = 1 << 20


def problem(folder: Path, file: ConvertedFile) -> str:
    """Return what is wrong with a file below `folder`, in a few words; empty if nothing is.

    Content is compared and not gzip's bytes, which differ from one version of zlib to another.
    """
    place = folder / file.path
    if not place.is_file():
        return "missing"
    digest, rows = hashlib.sha256(), 0
    try:
        with gzip.open(place, "rb") if place.suffix == ".gz" else place.open("rb") as content:
            while block := content.read(_BLOCK):
                digest.update(block)
                rows += block.count(b"\n")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        return f"damaged: {error}"
    rows -= place.suffix == ".tsv"  # its header
    if rows != file.rows:
        return f"{rows:,} rows instead of {file.rows:,}"
    if digest.hexdigest() != file.sha256:
        return f"SHA-256 of the content is {digest.hexdigest()} instead of {file.sha256}"
    return ""


def write(place: Path, lines: Iterable[str]) -> None:
    """Write lines, gzipped if the name ends in `.gz`, with the same bytes each time."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as out:
        if place.suffix == ".gz":
            with gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
                packed.writelines(f"{line}\n".encode() for line in lines)
        else:
            out.writelines(f"{line}\n".encode() for line in lines)
