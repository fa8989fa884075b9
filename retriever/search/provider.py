"""The protocol that every search provider speaks."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from citewell.core.types import Hit, Page
from citewell.retriever.search.query import Query

Scope = Literal["web", "site", "local"]
"""Where a provider searches: the web, one web site, or pages that are stored here."""


class SearchProvider(Protocol):
    """Anything that turns a query into a short list of pages (WebGLM §3.1.1, step 1)."""

    name: str
    scope: Scope

    def notices(self, query: Query) -> list[str]:
        """What of the query this provider cannot express, in sentences that name the provider."""
        ...

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first; an empty list when nothing matches.

        Raises a `citewell.core.errors.ServiceError` when the provider cannot answer. Site filters that the
        provider cannot express need not be applied: `Metasearch` does so.
        """
        ...


@runtime_checkable
class PageSource(Protocol):
    """Anything that already holds pages, so that they need not be fetched."""

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None when it is not here."""
        ...
