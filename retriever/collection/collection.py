"""A collection as the pipeline sees it: a search provider that also stores the pages it finds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from citewell.core.text import content_words, shorten, split_sentences, words
from citewell.core.types import Hit, Page
from citewell.retriever.collection.dense import DenseSearch, open_dense
from citewell.retriever.collection.hybrid import fuse
from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.protocol import CollectionStore
from citewell.retriever.collection.spelling import spelled
from citewell.retriever.collection.vectors import NoVectorsError
from citewell.retriever.encoder.encoder import DualEncoder, Vectors
from citewell.retriever.search.fusion import within_sites
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Query, cannot
from citewell.retriever.search.words import spoken

_SNIPPET = 200  # characters
_SITES_FACTOR = 20  # times `limit` pages are searched if the query filters by site
_FUSION_DEPTH = 100  # min pages found by words, and passages found by vectors, that are fused


class Collection:
    """Searches a collection; implements `SearchProvider`."""

    scope: Scope = "local"

    def __init__(self, store: CollectionStore, encoder: Callable[[], DualEncoder] | None = None) -> None:
        """Search `store` by words and, with an `encoder`, by its vectors as well, if it has any of this one.

        The encoder is loaded only if the collection is dense. Raises `CollectionError` if its vectors are
        damaged.
        """
        self.name = f"collection:{store.name}"
        self.store = store
        self._encoder = encoder
        self._dense: DenseSearch | None = None
        self._problem = ""
        self._look_for_vectors()

    def notices(self, query: Query) -> list[str]:
        """Report unsupported filters (all but those by site), and vectors that are missing."""
        notices = list(cannot(self.name, query.filters - {Filter.SITES, Filter.EXCLUDED_SITES}))
        dense = self._dense
        if self._problem:
            notices.append(f"{spoken(self.name)} is searched by words only. {self._problem}")
        elif dense and not dense.is_complete:
            notices.append(
                f"{spoken(self.name)} is searched by words only until all its passages are encoded: "
                f"citewell index --collection {self.store.name} --dense"
            )
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return the best pages for the query, with the passage that matches best as the snippet."""
        # In a thread: it reads files, encodes the question, and may wait for PostgreSQL.
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: Query) -> list[Hit]:
        self._look_for_vectors()
        hits = []
        some = bool(query.filters & {Filter.SITES, Filter.EXCLUDED_SITES})
        best = self._found(query.text, query.limit * _SITES_FACTOR if some else query.limit)
        pages = self.store.read([found.url for found in best])
        for found in best:
            # While an indexing run is in progress, the pages may be ahead of the index.
            if page := pages.get(found.url):
                passage = page.passages[found.passage].text if found.passage < len(page.passages) else ""
                hits.append(Hit(page.url, page.title, _snippet(passage, query.text), self.name))
        return within_sites(hits, query)[: query.limit]

    def _look_for_vectors(self) -> None:
        """Open the vectors, or close them: a collection may become dense, or be so no longer, at any time."""
        if self._encoder is None or not self.store.is_dense():
            self._dense, self._problem = None, ""
        elif self._dense is None:
            try:
                self._dense, self._problem = open_dense(self.store, self._encoder), ""
            except NoVectorsError as error:
                self._problem = str(error)

    def _found(self, text: str, limit: int) -> list[PageHit]:
        dense = self._dense  # other searches may close it
        if not (dense and words(text) and dense.is_complete):
            return self.store.search(text, limit)
        depth = max(limit, _FUSION_DEPTH)
        lexical = self.store.search(text, depth)
        return fuse(lexical, dense.search(text, depth), depth)

    def spelled(self, text: str) -> str:
        """Return the text with misspelled names replaced by those of the collection's titles."""
        return spelled(text, self.store)

    def count(self) -> int:
        """See `PageSource.count`."""
        return self.store.count()

    def urls(self) -> Sequence[str]:
        """See `PageSource.urls`."""
        return sorted(self.store.digests())

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None if the collection does not have it."""
        return self.store.read([url]).get(url)

    def vectors(self, page: Page) -> Vectors | None:
        """See `PageSource.vectors`."""
        dense = self._dense
        return dense.vectors_of(page) if dense else None


def _snippet(passage: str, query: str) -> str:
    """Return the beginning of a passage, or of its rest from the sentence with most words of the query."""
    if len(passage) > _SNIPPET:
        wanted = set(content_words(query))
        sentences = split_sentences(passage)
        best = max(sentences, key=lambda sentence: len(wanted & set(words(sentence))), default="")
        passage = passage[passage.find(best) :]
    return shorten(passage, _SNIPPET)
