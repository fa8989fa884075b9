"""Reads files and folders to index, one document at a time."""

from __future__ import annotations

import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from citewell.core.addresses import shown_address
from citewell.core.errors import InputError
from citewell.core.text import encodable
from citewell.core.types import Failure

_DOCUMENTS = (".html", ".htm", ".xhtml", ".md", ".markdown", ".txt", ".csv", ".tsv", ".pdf")
_OFFICE = (".docx", ".odt", ".pptx", ".xlsx", ".epub")
SUFFIXES = (*_DOCUMENTS, *_OFFICE, ".jsonl")
"""The endings of names of files that are read from a folder, also with `.gz` after them."""

MOST_BYTES = 500_000_000
"""The size up to which a file is read as one document."""

_LARGEST_MB = f"{MOST_BYTES / 1e6:,.0f} MB"


class SourceDocument(NamedTuple):
    """The bytes of a page to index. `url` names it in answers; `title` is used if the page has none."""

    url: str
    body: bytes
    content_type: str = ""
    title: str = ""


class Skipped(NamedTuple):
    """A file of a folder that is not a document, and the reason."""

    url: str
    reason: str


def read_source(source: Path, within: Path | None = None) -> Iterator[SourceDocument | Skipped | Failure]:
    """Yield all documents of a file, or of a folder and its subfolders, in a stable order.

    In `.jsonl` and `.jsonl.gz` files each line is an object with `url` (or `path`), `title` and `html` or
    `text`. Other files get their `file:` URL. Unreadable documents and folders are yielded as `Failure`,
    files of other types and links to folders as `Skipped`; hidden files are not. Links to files are followed,
    but not out of the folder `within`, if it is given. Raises `InputError` if no file can be read.
    """
    try:
        mode = source.stat().st_mode
    except OSError as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        problem = "does not exist" if missing else f"cannot be read: {error.strerror}"
        raise InputError(f"There is nothing to index: {source} {problem}.") from error
    is_folder = stat.S_ISDIR(mode)
    if not is_folder and not stat.S_ISREG(mode):
        raise InputError(f"There is nothing to index: {source} is neither a file nor a folder.")
    failures: list[Failure] = []
    files = sorted(_walk(source, failures)) if is_folder else [source]
    yield from failures
    if is_folder and not failures and not any(map(_is_readable, files)):
        problem = f"has no files of the types {', '.join(SUFFIXES)}"
        raise InputError(f"There is nothing to index: {source} {problem}.")
    for file in files:
        if is_folder and (reason := _left_out(file)):
            yield Skipped(file.absolute().as_uri(), reason)
        elif within and not file.resolve().is_relative_to(within.resolve()):
            yield Failure(file.absolute().as_uri(), "it is a link out of the folder of sources")
        elif file.name.lower().endswith((".jsonl", ".jsonl.gz")):
            yield from _read_lines(file)
        else:
            yield _read_file(file)


def _walk(folder: Path, failures: list[Failure]) -> Iterator[Path]:
    """Yield what is in a folder and its subfolders and is neither hidden nor a folder, but links to folders.

    The folders that cannot be read are added to `failures`, by their paths: what they hold has no URL.
    """

    def fail(error: OSError) -> None:
        failures.append(Failure(str(error.filename), f"the folder cannot be read: {error.strerror}"))

    for place, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(place, name).is_symlink()]
        yield from (Path(place, name) for name in [*names, *links] if not name.startswith("."))


def _left_out(file: Path) -> str:
    """Return why a file of a folder is not read, or an empty text."""
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return "a link to a file that does not exist"
    except OSError:
        mode = stat.S_IFREG  # reading it fails, and tells why
    if stat.S_ISDIR(mode):
        return "links to folders are not followed"
    if not stat.S_ISREG(mode):
        return "it is not a regular file"
    if _is_readable(file):
        return ""
    kind = f"{file.suffix.lower()} files" if file.suffix else "files without a suffix"
    return f"{kind} are not read"


def _is_readable(file: Path) -> bool:
    return file.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _read_file(file: Path) -> SourceDocument | Failure:
    file = file.resolve()  # a link that changes now is not followed elsewhere
    url = file.as_uri()
    try:
        if file.stat().st_size > MOST_BYTES:
            return Failure(url, f"the file has more than {_LARGEST_MB}")
        return SourceDocument(url, file.read_bytes())
    except OSError as error:
        return Failure(url, f"the file cannot be read: {error.strerror}")


def _read_lines(file: Path) -> Iterator[SourceDocument | Failure]:
    number = 0
    try:
        with gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _parse(line, f"{file}:{number}")
    except (OSError, EOFError, zlib.error) as error:
        yield Failure(f"{file}:{number + 1}", f"the file cannot be read any further: {error}")


def _parse(line: bytes, location: str) -> SourceDocument | Failure:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Failure(location, f"the line is not valid JSON: {error}")
    if not isinstance(row, dict):
        return Failure(location, "the line is not a JSON object")
    url = row.get("url") or row.get("path")
    if not isinstance(url, str) or not url:
        return Failure(location, "the object has no `url`")
    url = shown_address(encodable(url))
    title = encodable(row["title"]) if isinstance(row.get("title"), str) else ""
    for field, content_type in (("html", "text/html; charset=utf-8"), ("text", "text/plain; charset=utf-8")):
        if isinstance(row.get(field), str):
            return SourceDocument(url, row[field].encode(errors="replace"), content_type, title)
    return Failure(location, "the object has neither `html` nor `text`")
