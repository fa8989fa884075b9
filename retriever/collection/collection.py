"""A collection as the pipeline sees it: a search provider that also stores the pages it finds."""

from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from citewell.core.errors import CollectionError, InputError
from citewell.core.text import shorten, words
from citewell.core.types import Hit, Page
from citewell.retriever.collection.dense import DenseSearch
from citewell.retriever.collection.hybrid import fuse
from citewell.retriever.collection.index import PageHit, SearchIndex
from citewell.retriever.collection.store import PageStore
from citewell.retriever.search.fusion import within_sites
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Query, cannot

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SNIPPET = 200  # characters
_SITES_FACTOR = 20  # times `limit` pages are searched if the query filters by site
_FUSION_DEPTH = 100  # min pages found by words, and passages found by vectors, that are fused

OpenDense = Callable[[Path, str], DenseSearch | None]
"""Opens the vectors of a collection's folder, as `citewell.retriever.collection.dense.open_dense` does."""


def collection_folder(data_dir: Path, name: str) -> Path:
    """Return the folder of the collection `name`. Raises `InputError` if the name is not valid."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is not a valid collection name.",
            "Use 1 to 64 letters, digits, dots, dashes and underscores; start with a letter or digit.",
        )
    return data_dir / "collections" / name


def collection_names(data_dir: Path) -> list[str]:
    """Return the names of all collections, sorted."""
    return sorted(file.parent.name for file in (data_dir / "collections").glob("*/pages.db"))


def remove_collection(data_dir: Path, name: str) -> None:
    """Delete a collection and everything in it. Raises `CollectionError` if it does not exist."""
    folder = collection_folder(data_dir, name)
    if name not in collection_names(data_dir):
        raise _missing(data_dir, name)
    shutil.rmtree(folder)


class Collection:
    """Searches a collection; implements `SearchProvider`."""

    scope: Scope = "local"

    def __init__(self, data_dir: Path, name: str, open_dense: OpenDense | None = None) -> None:
        """Open the collection. Raises `CollectionError` if it is missing or damaged.

        With `open_dense`, a collection that has vectors is searched by vectors as well as by words.
        """
        folder = collection_folder(data_dir, name)
        if not (folder / "pages.db").is_file():
            raise _missing(data_dir, name)
        self.name = f"collection:{name}"
        self.folder = folder
        self.store = PageStore(folder / "pages.db")
        if not SearchIndex.exists(folder / "index"):
            raise CollectionError(
                f"The collection {name!r} has no search index.",
                f"Rebuild it from the stored pages: citewell index --collection {name} --rebuild",
            )
        self._index = SearchIndex(folder / "index")
        self._dense = open_dense(folder, self.store.vectors()) if open_dense else None

    def notices(self, query: Query) -> list[str]:
        """Report unsupported filters (all but those by site), and vectors that are not complete."""
        notices = list(cannot(self.name, query.filters - {Filter.SITES, Filter.EXCLUDED_SITES}))
        if self._dense and not self._dense.is_complete:
            notices.append(
                f"{self.name} is searched by words only until all its passages are encoded: "
                f"citewell index --collection {self.folder.name} --dense"
            )
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return the best pages for the query, with the passage that matches best as the snippet."""
        # In a thread: it reads files, encodes the question, and may wait for PostgreSQL.
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: Query) -> list[Hit]:
        hits = []
        some = bool(query.filters & {Filter.SITES, Filter.EXCLUDED_SITES})
        for found in self._found(query.text, query.limit * _SITES_FACTOR if some else query.limit):
            # While an indexing run is in progress, the store may be ahead of the index.
            if page := self.store.page(found.url):
                snippet = page.passages[found.passage].text if found.passage < len(page.passages) else ""
                hits.append(Hit(page.url, page.title, shorten(snippet, _SNIPPET), self.name))
        return within_sites(hits, query)[: query.limit]

    def _found(self, text: str, limit: int) -> list[PageHit]:
        if not (self._dense and words(text) and self._dense.is_complete):
            return self._index.search(text, limit)
        depth = max(limit, _FUSION_DEPTH)
        lexical = self._index.search(text, depth)
        return fuse(lexical, self._dense.search(text, depth), depth)

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None if the collection does not have it."""
        return self.store.page(url)


def _missing(data_dir: Path, name: str) -> CollectionError:
    known = ", ".join(collection_names(data_dir)) or "none yet"
    return CollectionError(
        f"There is no collection {name!r} (there are: {known}).",
        f"Create it: citewell index SOURCE --collection {name}",
    )
