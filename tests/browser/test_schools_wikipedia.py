"""Articles of Wikipedia for Schools, and lists of them, keep their text and every link."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from urllib.parse import urljoin

import pytest
from lxml import html
from yarl import URL

from citewell.browser.characters import MARK, SPECIAL, stripped
from citewell.browser.matching import quote
from citewell.browser.simplify import simplify
from citewell.core.text import words
from citewell.retriever.fetch.urls import web_url

DATA = Path(os.environ.get("CITEWELL_DATA", "")) / "web/wikispeedia"
SITE = "http://schools.example"

pytestmark = pytest.mark.skipif(
    not os.environ.get("CITEWELL_DATA") or not DATA.is_dir(),
    reason="CITEWELL_DATA names no folder with Wikipedia for Schools",
)


def rows(pattern: str) -> Iterator[dict[str, str]]:
    for file in sorted(DATA.glob(pattern)):
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def test_articles_and_lists_keep_their_text_and_links() -> None:
    articles = islice(rows("articles-*.jsonl.gz"), 0, 1200, 40)
    for row in [*articles, *islice(rows("index_pages.jsonl.gz"), 0, None, 15)]:
        url = SITE + row["path"]
        page = simplify(row["html"].encode(), url, "text/html; charset=utf-8")
        article = html.document_fromstring(row["html"]).find(".//article")
        found = list(MARK.finditer(page.text))

        addresses = {web_url(urljoin(url, anchor.get("href"))) for anchor in article.iter("a")}
        assert addresses <= {URL(link.url) for link in page.links} | {web_url(url)}, row["name"]
        assert [int(mark[1]) for mark in found] == list(range(len(page.links))), row["name"]
        assert [mark[2] for mark in found] == [link.text for link in page.links], row["name"]
        assert not set(MARK.sub("", page.text)) & set(SPECIAL), row["name"]
        assert not set(words(" ".join(article.itertext()))) - set(words(stripped(page.text))), row["name"]
        for paragraph in article.iterfind("p"):
            if (text := paragraph.text_content()) and not paragraph.findall(".//sup"):
                assert quote(page.text, text), f"{row['name']}: {text[:80]}"
