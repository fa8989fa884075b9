"""The protocol of the web that the text browser searches and opens."""

from __future__ import annotations

from typing import Protocol

from citewell.browser.page import TextPage


class Web(Protocol):
    """A web to search and to open pages of; a failure is a page of the kind `error`, with the reason."""

    async def search(self, query: str) -> TextPage:
        """Return a page of results, each a link and a snippet."""
        ...

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """Return the page at `url` for a person or policy that answers `question`.

        A page that gives the question or a known `answer` away is an error page (WebGPT, appendix A).
        """
        ...
