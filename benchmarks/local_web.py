"""A web on this machine: questions with ten hits each, as a search engine would find them among real pages.

Eight of the ten pages of a question are articles of Wikipedia for Schools, and two are pages of any kind from
the web (WCXB and the article-extraction benchmark), each found by BM25 and inserted at random ranks: the
articles have the information, and the others the size and the markup of real pages.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from benchmarks.ask_wikispeedia import ArticleQuestion, build_index, covered_questions
from benchmarks.results_files import external_data
from citewell.core.settings import Settings, load_settings
from citewell.core.text import shorten, split_sentences, squeeze
from citewell.core.types import Hit, Page
from citewell.pipeline.evaluation.coverage import stored_pages
from citewell.pipeline.fetching import sandbox_limits
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.indexing import index_documents, indexing
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.lexical import bm25
from citewell.retriever.search.query import Query

ARTICLES, OTHERS = "wikispeedia", "web"
OF_ARTICLES, OF_OTHERS = 8, 2
_SNIPPET = 200  # characters, about what search engines show
_READ_FOR_SNIPPET = 3  # passages


class Case(NamedTuple):
    """A question and its search results; `pages` holds the hits' pages, extracted."""

    question: str
    hits: tuple[Hit, ...]
    pages: tuple[Page, ...]


class LocalWeb:
    """The pages, indexed in `data_dir`, and the cases of a split of the questions (see `ask_wikispeedia`)."""

    def __init__(self, data_dir: Path) -> None:
        """Index both kinds of pages, which takes a minute the first time."""
        self._settings = load_settings({"data_dir": data_dir, "search.collection": ARTICLES})
        build_index(self._settings)
        documents = [SourceDocument(url, body) for url, body in read_others().items()]
        with indexing(EmbeddedCatalog(data_dir), OTHERS) as indexer:
            index_documents(indexer, OTHERS, iter(documents), sandbox=sandbox_limits(self._settings))

    @property
    def settings(self) -> Settings:
        """The settings that the web was indexed with."""
        return self._settings

    def questions(self, split: str, limit: int) -> list[ArticleQuestion]:
        """Return the questions of a split that the articles can answer."""
        return covered_questions(list(stored_pages(self._settings)), split, limit)[0]

    async def case(self, question: str) -> Case:
        """Search for a question; the same question always has the same hits."""
        articles = await self._found(ARTICLES, question, OF_ARTICLES)
        others = await self._found(OTHERS, question, OF_OTHERS)
        rng = random.Random(question)
        for page in others:
            articles.insert(rng.randrange(len(articles) + 1), page)
        hits = tuple(Hit(page.url, page.title, snippet(question, page), "local") for page in articles)
        return Case(question, hits, tuple(articles))

    async def _found(self, name: str, question: str, number: int) -> list[Page]:
        collection = Collection(EmbeddedCatalog(self._settings.data_dir).open(name))
        hits = await collection.search(Query(question, number))
        return [page for hit in hits if (page := collection.page(hit.url))]


def snippet(question: str, page: Page) -> str:
    """Return the sentence of a page that matches the question best, like a search engine's snippet."""
    texts = [passage.text for passage in page.passages]
    best = (-bm25(question, texts)).argsort(kind="stable")[:_READ_FOR_SNIPPET]
    sentences = [sentence for row in sorted(best) for sentence in split_sentences(texts[row])]
    return shorten(squeeze(sentences[int(bm25(question, sentences).argmax())]), _SNIPPET) if sentences else ""


def read_articles() -> dict[str, bytes]:
    """Return the HTML of the articles by their URLs, which are paths."""
    files = sorted((external_data() / "web" / "wikispeedia").glob("articles-*.jsonl.gz"))
    return {row["path"]: row["html"].encode() for file in files for row in _rows(file)}


def read_others() -> dict[str, bytes]:
    """Return the HTML of the other pages by paths made from their ids."""
    files = sorted((external_data() / "pages").glob("*.jsonl.gz"))
    return {
        f"/web/{quote(row['id'], safe='')}": row["html"].encode(errors="replace")
        for file in files
        for row in _rows(file)
    }


def _rows(file: Path) -> Iterator[dict[str, str]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
