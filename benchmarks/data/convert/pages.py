"""Web pages with the text that people marked in them."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from benchmarks.data.rows import Row, lines

_LANG = re.compile(r"<html[^>]*?\s(?:xml:)?lang\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_HEAD = 20_000  # characters in which the element `html` begins
_SHARDS = 3


def article_extraction(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the article extraction benchmark of Scrapinghub (Zyte)."""
    archive = _Members(originals / "repository.tar.gz")
    texts = json.loads(archive.read("ground-truth.json"))
    rows = (
        {
            "id": f"aeb-{name[:16]}",
            "url": texts[name]["url"],
            "page_type": "article",
            "html": _html(archive.read(f"html/{name}.html.gz")),
            "gold_text": texts[name]["articleBody"],
            "license": "annotations MIT; page belongs to its publisher",
        }
        for name in sorted(texts)
    )
    yield "pages/article_extraction_benchmark.jsonl.gz", lines(rows)


def web_content_extraction(originals: Path) -> Iterator[tuple[str, Iterator[str]]]:
    """Convert the development pages of the Web Content Extraction Benchmark into three files in turn."""
    archive = _Members(originals / "repository.tar.gz")
    marks = sorted(name for name in archive.names if re.fullmatch(r"dev/ground-truth/\d+\.json", name))
    for shard in range(_SHARDS):
        rows = (_marked_page(archive, name) for name in islice(marks, shard, None, _SHARDS))
        yield f"pages/wcxb_dev-{shard:02}.jsonl.gz", lines(rows)


class _Members:
    """The files of a repository's archive, named without the folder that holds them all."""

    def __init__(self, file: Path) -> None:
        self._archive = tarfile.open(file)  # noqa: SIM115
        self.names: Mapping[str, tarfile.TarInfo] = {
            member.name.partition("/")[2]: member for member in self._archive if member.isfile()
        }

    def read(self, name: str) -> bytes:
        content = self._archive.extractfile(self.names[name])
        assert content is not None
        return content.read()


def _marked_page(archive: _Members, name: str) -> Row:
    number = Path(name).stem
    mark = json.loads(archive.read(name))
    text, about = mark["ground_truth"], mark["_internal"]
    html = _html(archive.read(f"dev/html/{number}.html.gz"))
    lang = _LANG.search(html, 0, _HEAD)
    return {
        "id": f"wcxb-{number}",
        "url": mark["url"] or None,
        "page_type": about["page_type"]["primary"],
        "lang": lang[1] if lang else None,
        "html": html,
        "gold_text": text.get("main_content") or None,
        "gold_title": text.get("title"),
        "gold_author": text.get("author"),
        "gold_date": text.get("publish_date"),
        "gold_with": text.get("with", []),
        "gold_without": text.get("without", []),
        "tags": about["page_type"].get("tags", []),
        "spa": about.get("spa", False),
        "license": "annotations CC BY 4.0; page belongs to its publisher",
    }


def _html(packed: bytes) -> str:
    return gzip.decompress(packed).decode("utf-8", "replace")
