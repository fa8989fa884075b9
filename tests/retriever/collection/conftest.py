"""Collections in a temporary folder, commands in processes of their own, and a real web site."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
import tantivy
from aiohttp import web

import citewell
from citewell.core.text import content_words
from citewell.core.types import Page, Passage
from citewell.retriever.collection.collection import Collection
from citewell.retriever.collection.dense import updating
from citewell.retriever.collection.embedded_catalog import EmbeddedCatalog
from citewell.retriever.collection.encoding import EncodingProgress
from citewell.retriever.collection.indexing import Indexer, Report, index_documents, indexing
from citewell.retriever.collection.postgres.catalog import PostgresCatalog
from citewell.retriever.collection.protocol import Catalog
from citewell.retriever.collection.sources import SourceDocument
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.search.query import Query

SYNONYMS = {"feline": "cat", "kitten": "cat", "automobile": "car"}


@dataclass
class BagOfWords:
    """An encoder that adds up a vector for each content word, the same one for words that mean the same.

    Its vectors are as long as texts are. `encoded` has every passage that it was asked for.
    """

    name: str = "bag-of-words"
    fingerprint: str = "1"
    dimension: int = 32
    encoded: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        self.questions += questions
        return self._encode(questions)

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        self.encoded += passages
        return self._encode(passages)

    def _encode(self, texts: Sequence[str]) -> Vectors:
        rows = [sum(map(self._word, content_words(text)), np.zeros(self.dimension)) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension)

    def _word(self, word: str) -> Any:
        seed = hashlib.sha256(SYNONYMS.get(word, word).encode()).digest()[:4]
        return np.random.default_rng(int.from_bytes(seed, "big")).standard_normal(self.dimension)


def open_catalog(place: str) -> Catalog:
    """Open the collections of a data folder or of a database."""
    return PostgresCatalog(place) if place.startswith("postgresql:") else EmbeddedCatalog(Path(place))


@dataclass(frozen=True)
class Library:
    """A data folder with one collection, and what tests do with it."""

    data_dir: Path
    url: str = ""
    """Of the database that holds the collection, if it is not in the data folder."""

    @property
    def folder(self) -> Path:
        return self.data_dir / "collections" / "shelf"

    @property
    def place(self) -> str:
        return self.url or str(self.data_dir)

    @property
    def catalog(self) -> Catalog:
        return open_catalog(self.place)

    def indexing(self, *, rebuild: bool = False) -> AbstractContextManager[Indexer]:
        return indexing(self.catalog, "shelf", rebuild=rebuild)

    def index(self, texts: Mapping[str, str], source: str = "source") -> Report:
        """Index texts by URL; the first line of each is its title."""
        documents = [
            SourceDocument(url, text.encode(), "text/plain", text.partition("\n")[0])
            for url, text in texts.items()
        ]
        with self.indexing() as indexer:
            return index_documents(indexer, source, documents)

    def open(self) -> Collection:
        return Collection(self.catalog.open("shelf"))

    def encode(self, encoder: BagOfWords, *, repair: bool = False) -> EncodingProgress:
        """Bring the vectors up to date."""
        with self.indexing(rebuild=repair) as indexer, updating(indexer.store, encoder) as update:
            return update(lambda encoded: None)

    def open_dense(self, encoder: BagOfWords) -> Collection:
        """Open the collection to be searched by vectors as well."""
        return Collection(self.catalog.open("shelf"), lambda: encoder)

    async def search(self, query: str, limit: int = 10) -> list[str]:
        """Return the URLs that a query finds."""
        return [hit.url for hit in await self.open().search(Query(query, limit))]

    def indexed_passages(self) -> int:
        """How many passages the index holds, the same one twice if it does."""
        if self.url:
            with psycopg.connect(self.url) as connection:
                [(number,)] = connection.execute("SELECT count(*) FROM citewell_passages_1").fetchall()
                return int(number)
        return int(tantivy.Index.open(str(self.folder / "index")).searcher().num_docs)

    def shelve(self, texts: Mapping[str, str], source: str = "source") -> None:
        """Index texts by URL, and no others; blank lines part paragraphs, of which the first is the title."""
        with self.indexing() as indexer:
            known = indexer.store.digests()
            fresh = []
            for url, text in texts.items():
                title, *paragraphs = text.split("\n\n")
                page = Page(url, title, tuple(Passage(url, title, paragraph) for paragraph in paragraphs))
                digest = hashlib.sha256(text.encode()).hexdigest()
                if known.get(url) != digest:
                    fresh.append((page, digest))
            indexer.store.put(source, fresh)
            indexer.store.forget(source, set(texts))

    def stored_passages(self) -> int:
        store = self.open().store
        pages = [store.read([url]).get(url) for url in store.digests()]
        return sum(len(page.passages) for page in pages if page)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def shared(tmp_path: Path, database: str) -> Library:
    """A collection in PostgreSQL."""
    return Library(tmp_path / "data", database)


@pytest.fixture(params=["embedded", "postgres"])
def either(request: pytest.FixtureRequest) -> Library:
    """A collection in the data folder, and then one in PostgreSQL."""
    found: Library = request.getfixturevalue("library" if request.param == "embedded" else "shared")
    return found


@pytest.fixture
def bag() -> BagOfWords:
    return BagOfWords()


@pytest.fixture
def command() -> Callable[..., list[str]]:
    """The command line that runs one of this folder's scripts in a process of its own."""
    return lambda script, *arguments: [
        sys.executable,
        str(Path(__file__).with_name(script)),
        *map(str, arguments),
    ]


@pytest.fixture
def environment() -> dict[str, str]:
    root = Path(citewell.__file__).parents[1]
    return {**os.environ, "PYTHONPATH": str(root), "PYTHONUNBUFFERED": "1", "RUST_BACKTRACE": "0"}


@dataclass
class Site:
    """A web site on this machine: its pages by path, and what was asked for."""

    pages: dict[str, str | type[web.HTTPException]] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    robots: str | None = ""  # None if it cannot be read
    asked: Counter[str] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    base: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/robots.txt":
            if self.robots is None:
                raise web.HTTPServiceUnavailable
            return web.Response(text=self.robots)
        self.asked[request.path_qs] += 1
        self.times.append(time.monotonic())
        page = self.pages.get(request.path_qs)
        if page is None:
            raise web.HTTPNotFound
        if isinstance(page, str) and page.startswith("->"):
            return web.Response(status=302, headers={"Location": page.removeprefix("->").strip()})
        if isinstance(page, str):
            headers = self.headers.get(request.path_qs)
            return web.Response(text=page, content_type="text/html", headers=headers)
        raise page

    def page(self, path: str, *links: str, text: str = "", head: str = "") -> None:
        """Make a page at `path` that links to others."""
        name = path.strip("/").replace("/", " ") or "home"
        text = text or f"This is the page called {name}, which tells all that there is to say about {name}."
        anchors = "".join(f'<li><a href="{link}">a link</a></li>' for link in links)
        self.pages[path] = (
            f"<html><head><title>{name}</title>{head}</head><body><main><h1>{name}</h1>"
            f"<p>{text}</p><ul>{anchors}</ul></main></body></html>"
        )


@pytest.fixture
def make_site(serve: Callable[[dict[str, Any]], Awaitable[str]]) -> Callable[[], Awaitable[Site]]:
    async def start() -> Site:
        site = Site()
        site.base = await serve({"/{path:.*}": site.answer})
        return site

    return start


@pytest.fixture
async def site(make_site: Callable[[], Awaitable[Site]]) -> Site:
    return await make_site()
