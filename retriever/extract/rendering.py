"""Rendering of pages that build their text with JavaScript, before they are read."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Literal

from citewell.core.errors import ExtractionError
from citewell.core.types import Page
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.extract.kind import kind_of
from citewell.retriever.extract.links import Leads

Mode = Literal["auto", "always"]
Render = Callable[[str, bytes, str], Awaitable[bytes]]
"""Returns the HTML of a page after its scripts ran, given its URL, body and content type."""

_LITTLE = 500  # characters; a page with scripts that shows less is rendered
_SCRIPT = re.compile(rb"<script\b", re.IGNORECASE)


class RenderingExtractor:
    """An extractor that renders HTML pages, all or only those it may help, and reads them with another.

    In the mode `auto`, a page is rendered when it has scripts and, as it was fetched, next to no text.
    """

    def __init__(self, extractor: Extractor, render: Render, mode: Mode) -> None:
        self._extractor = extractor
        self._render = render
        self._mode = mode

    def warm_up(self) -> None:
        """Prepare to read; the browser starts with the first page that needs it."""
        self._extractor.warm_up()

    async def extract(self, body: bytes, url: str, content_type: str = "", title: str = "") -> Page:
        """Read a page; if rendering fails, read it as fetched, with a notice if it has any text."""
        if not self._may_help(body, url, content_type):
            return await self._extractor.extract(body, url, content_type, title)
        found: Page | ExtractionError | None = None
        if self._mode == "auto":
            try:
                found = await self._extractor.extract(body, url, content_type, title)
            except ExtractionError as error:
                found = error
            else:
                if sum(len(passage.text) for passage in found.passages) >= _LITTLE:
                    return found
        try:
            rendered = await self._render(url, body, content_type)
            page = await self._extractor.extract(rendered, url, "text/html; charset=utf-8", title)
        except ExtractionError as error:
            return await self._without(found, error, body, url, content_type, title)
        return page

    async def leads(self, body: bytes, url: str, content_type: str = "") -> Leads:
        """Read the links of a page as fetched, without rendering."""
        return await self._extractor.leads(body, url, content_type)

    def _may_help(self, body: bytes, url: str, content_type: str) -> bool:
        if not url.startswith(("http://", "https://")):
            return False
        try:
            return kind_of(body, url, content_type) == "html" and bool(_SCRIPT.search(body))
        except ExtractionError:
            return False

    async def _without(
        self,
        found: Page | ExtractionError | None,
        problem: ExtractionError,
        body: bytes,
        url: str,
        content_type: str,
        title: str,
    ) -> Page:
        """Return the page as read before rendering failed with `problem`."""
        if isinstance(found, ExtractionError):
            raise ExtractionError(f"{found.message}; {problem.message}", problem.hint) from problem
        page = found or await self._extractor.extract(body, url, content_type, title)
        return replace(page, notice=f"it was read without its scripts, since {problem.message}")
