"""One page that a question wants, and the protocol of everything that fetches pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.memory_budget import Lease
from citewell.retriever.fetch.notices import Warn, log_warning


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to fetch."""

    url: str
    lease: Lease | None = None
    """The memory budget of the body; None means no budget and no waiting."""
    is_hedge: bool = False
    """True for a second request for a slow page, which must not join the first one."""
    on_body: Callable[[], None] | None = None
    """Called once the first part of the page itself has arrived."""
    warn: Warn = log_warning
    """Receives warnings besides the page itself, such as a damaged cache."""


class PageFetch(Protocol):
    """A function that fetches pages: `HttpFetcher.fetch`, or a wrapper for the pages of one question."""

    async def __call__(self, request: PageRequest) -> Download:
        """Fetch one page; raises `FetchError`."""
        ...
