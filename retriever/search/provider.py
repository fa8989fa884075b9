"""The protocol of search providers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from citewell.core.types import Hit, Page
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.search.query import Query

Scope = Literal["web", "site", "local"]
"""Where a provider searches: the web, one website, or locally stored pages."""


class SearchProvider(Protocol):
    """A provider turns a query into a short list of pages (WebGLM §3.1.1, step 1)."""

    name: str
    scope: Scope

    def notices(self, query: Query) -> list[str]:
        """Sentences, naming the provider, about parts of the query that it does not support."""
        ...

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first; an empty list if nothing matches.

        Raises `citewell.core.errors.ServiceError` if the provider fails. `Metasearch` applies site filters
        that a provider does not support.
        """
        ...


@runtime_checkable
class PageSource(Protocol):
    """A store of pages, which therefore need not be fetched."""

    def count(self) -> int:
        """Return the number of pages."""
        ...

    def urls(self) -> Sequence[str]:
        """Return the URLs of all pages."""
        ...

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None if it is not stored."""
        ...

    def vectors(self, page: Page) -> Vectors | None:
        """Return the vectors of the n passages of a stored page, an (n, dimension) array, if all are stored.

        They come from the encoder that questions are searched with.
        """
        ...


@runtime_checkable
class Speller(Protocol):
    """Knows the words of the pages that it finds."""

    def spelled(self, text: str) -> str:
        """Return the text with misspelled names corrected."""
        ...
