"""The protocol of extractors, which turn the bytes of fetched pages into passages."""

from __future__ import annotations

from typing import Protocol

from citewell.core.types import Page
from citewell.retriever.extract.links import Leads


class Extractor(Protocol):
    """A reader of pages: `Sandbox` uses worker processes, `RenderingExtractor` a browser before those."""

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        """Read a page like `citewell.retriever.extract.page.extract`; raise `ExtractionError`."""
        ...

    async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
        """Read links like `citewell.retriever.extract.links.read_leads`; raise `ExtractionError` too."""
        ...

    def warm_up(self) -> None:
        """Prepare in the background for pages that are about to arrive."""
        ...
