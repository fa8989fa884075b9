"""The quality gate: floors for extraction on real pages, to be raised and never lowered in silence.

The data is the article-extraction-benchmark (https://github.com/scrapinghub/article-extraction-benchmark)
and Wikipedia articles, in the folder that the environment variable CITEWELL_DATA names.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from retriever.extract.page import extract

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = os.environ.get("CITEWELL_DATA", "")
pytestmark = pytest.mark.skipif(not DATA, reason="CITEWELL_DATA does not name a folder with data")


def rows(name: str, limit: int) -> Iterator[dict[str, Any]]:
    with gzip.open(Path(DATA) / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, islice(lines, limit))


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """The benchmark's measure: runs of four words."""
    words = re.findall(r"\w+", text)
    return Counter(zip(*(words[n:] for n in range(4)), strict=False))


def test_articles_f1() -> None:
    precision = recall = 0.0
    pages = list(rows("pages/article_extraction_benchmark.jsonl.gz", 80))
    for row in pages:
        page = extract(row["html"].encode(), row["url"], "text/html")
        found = shingles("\n".join(passage.text for passage in page.passages))
        gold = shingles(row["gold_text"])
        shared = (found & gold).total()
        precision += shared / max(found.total(), 1) / len(pages)
        recall += shared / gold.total() / len(pages)
    assert 2 * precision * recall / (precision + recall) >= 0.95


def test_encyclopedia_articles() -> None:
    for row in rows("web/wikispeedia/articles-00.jsonl.gz", 60):
        page = extract(row["html"].encode(), row["path"], "text/html")
        text = " ".join(" ".join(passage.text.split()) for passage in page.passages)
        assert page.title == row["title"]
        assert "GNU Free Documentation License. See also our Disclaimer" not in text
        assert max(len(passage.text) for passage in page.passages) <= 1000
        assert len({passage.id for passage in page.passages}) == len(page.passages)
