"""What the text browser reaches the world through."""

from __future__ import annotations

from typing import Protocol

from citewell.browser.page import TextPage


class Web(Protocol):
    """Searches and opens pages; what goes wrong is a page too, of the kind `error`, with its reason."""

    async def search(self, query: str) -> TextPage:
        """A page of results, each a link and a snippet."""
        ...

    async def open(self, url: str, question: str, answer: str = "") -> TextPage:
        """The page at `url`, for someone who answers `question`.

        A page that gives the question or a known `answer` away is an error page (WebGPT, appendix A).
        """
        ...
