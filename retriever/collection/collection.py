"""A collection as the pipeline sees it: a search provider that also holds its pages."""

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
_MORE = 20  # times as many pages are looked at when only some sites are wanted
_FUSED = 100  # pages found by words, at least, and passages found by vectors, which are fused

OpenDense = Callable[[Path, str], DenseSearch | None]
"""Opens the vectors of a collection's folder, as `citewell.retriever.collection.dense.open_dense` does."""


def collection_folder(data_dir: Path, name: str) -> Path:
    """Where the collection `name` lives; raises `InputError` for a name that cannot be a folder's."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name a collection.",
            "Use 1 to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
        )
    return data_dir / "collections" / name


def collection_names(data_dir: Path) -> list[str]:
    """The names of all collections, sorted."""
    return sorted(file.parent.name for file in (data_dir / "collections").glob("*/pages.db"))


def remove_collection(data_dir: Path, name: str) -> None:
    """Delete a collection and everything in it; raises `CollectionError` when there is none."""
    folder = collection_folder(data_dir, name)
    if name not in collection_names(data_dir):
        raise _missing(data_dir, name)
    shutil.rmtree(folder)


class Collection:
    """Reads a collection; speaks `SearchProvider`."""

    scope: Scope = "local"

    def __init__(self, data_dir: Path, name: str, open_dense: OpenDense | None = None) -> None:
        """Open the collection; raises `CollectionError` when it is missing or damaged.

        With `open_dense`, a collection that has vectors is searched by them as well as by words.
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
                f"Build it from the stored pages: citewell index --collection {name} --rebuild",
            )
        self._index = SearchIndex(folder / "index")
        self._dense = open_dense(folder, self.store.vectors()) if open_dense else None

    def notices(self, query: Query) -> list[str]:
        """Say which filters a collection does not have, those of sites it has; and whether vectors miss."""
        notices = list(cannot(self.name, query.filters - {Filter.SITES, Filter.EXCLUDED_SITES}))
        if self._dense and not self._dense.is_complete:
            notices.append(
                f"{self.name} is searched by words alone until all of its passages are encoded: "
                f"citewell index --collection {self.folder.name} --dense"
            )
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return the best pages for the query, with the passage that matches best as the snippet."""
        # In a thread: files are read, the question is encoded, and PostgreSQL may be far away.
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: Query) -> list[Hit]:
        hits = []
        some = bool(query.filters & {Filter.SITES, Filter.EXCLUDED_SITES})
        for found in self._found(query.text, query.limit * _MORE if some else query.limit):
            # The store may be ahead of the index while a run is going on.
            if page := self.store.page(found.url):
                snippet = page.passages[found.passage].text if found.passage < len(page.passages) else ""
                hits.append(Hit(page.url, page.title, shorten(snippet, _SNIPPET), self.name))
        return within_sites(hits, query)[: query.limit]

    def _found(self, text: str, limit: int) -> list[PageHit]:
        if not (self._dense and words(text) and self._dense.is_complete):
            return self._index.search(text, limit)
        depth = max(limit, _FUSED)
        lexical = self._index.search(text, depth)
        return fuse(lexical, self._dense.search(text, depth), depth)

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None when the collection does not hold it."""
        return self.store.page(url)


def _missing(data_dir: Path, name: str) -> CollectionError:
    known = ", ".join(collection_names(data_dir)) or "none yet"
    return CollectionError(
        f"There is no collection {name!r} (there are: {known}).",
        f"Make it: citewell index SOURCE --collection {name}",
    )
