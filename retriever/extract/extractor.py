"""What turns the bytes of a page into passages, for everything that fetches pages."""

from __future__ import annotations

from typing import Protocol

from citewell.core.types import Page
from citewell.retriever.extract.links import Leads


class Extractor(Protocol):
    """Reads pages: `Sandbox` in processes of their own, and `RenderingExtractor` with a browser before it."""

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        """Read a page like `citewell.retriever.extract.page.extract`; raises `ExtractionError`."""
        ...

    async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
        """Read links like `citewell.retriever.extract.links.read_leads`; raises `ExtractionError` too."""
        ...

    def warm_up(self) -> None:
        """Get ready in the background: pages are on their way."""
        ...
