"""The protocol that every search provider speaks."""

from __future__ import annotations

from typing import Protocol

from core.types import Hit, Page


class SearchProvider(Protocol):
    """Anything that turns a query into a short list of pages (WebGLM §3.1.1, step 1)."""

    name: str

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return at most `limit` hits, best first; an empty list when nothing matches.

        Raises `core.errors.SearchError` when the provider cannot answer.
        """
        ...


class PageSource(Protocol):
    """Anything that already holds pages, so that they need not be fetched."""

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None when it is not here."""
        ...
