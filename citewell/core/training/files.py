"""The files that a model comes from, for its card."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataFile:
    """A file that a model was trained on, or measured on: `use` is `train` or `dev`."""

    source: str
    name: str
    sha256: str
    licence: str
    use: str


def describe_file(path: Path, *, source: str, licence: str, use: str) -> DataFile:
    """The file at `path`, with the SHA-256 of what is in it."""
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return DataFile(source, path.name, digest, licence, use)
