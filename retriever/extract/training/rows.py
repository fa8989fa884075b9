"""The data for training and measuring extraction: pages whose main text people wrote down."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from citewell.core.addresses import address_parts
from citewell.core.errors import InputError

_SHARD = re.compile(r"(-\d+)?\.jsonl(\.gz)?$")


class PageRow(msgspec.Struct, frozen=True):
    """A page with its main text. `html` is decoded: ignore the charset that it declares.

    `gold_with` and `gold_without` are short texts that are, and are not, part of the main text.
    """

    id: str
    html: str
    gold_text: str | None
    url: str | None = None
    page_type: str = ""
    license: str = ""
    gold_with: tuple[str, ...] | None = None
    gold_without: tuple[str, ...] | None = None

    @property
    def site(self) -> str:
        """The host of the page; its id where it has no URL."""
        return address_parts(self.url or "").netloc.removeprefix("www.") or self.id


def read_rows(file: Path) -> Iterator[PageRow]:
    """Read a file of JSON lines, which may be gzipped; rows without `gold_text` are skipped.

    Raises `InputError` for a file that cannot be read, and for a line of another form.
    """
    decoder = msgspec.json.Decoder(PageRow)
    number = 0
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
            for line in lines:
                number += 1
                row = decoder.decode(line)
                if row.gold_text:
                    yield row
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(
            f"{file}:{number} is not a page with its text: {error}.",
            "Each line is a JSON object with id, html and gold_text, and url and page_type where known.",
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{file} cannot be read any further than line {number}: {error}.") from error


def data_set(file: Path) -> str:
    """Return the name of the data set that a file is part of: `wcxb_dev` of `wcxb_dev-00.jsonl.gz`."""
    return _SHARD.sub("", file.name)


def data_files(folder: Path) -> list[Path]:
    """Return the files of pages in the folder of evaluation data; raise `InputError` if there are none."""
    files = sorted((folder / "pages").glob("*.jsonl.gz"))
    if not files:
        raise InputError(
            f"There are no pages to learn from in {folder / 'pages'}.",
            "Name the files: --data FILE",
        )
    return files


def rows_of(files: Iterable[Path]) -> Iterator[tuple[str, PageRow]]:
    """Yield the rows of several files, each with the name of its data set."""
    for file in files:
        for row in read_rows(file):
            yield data_set(file), row
