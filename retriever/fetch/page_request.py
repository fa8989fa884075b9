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
    """What the body takes its memory from; None: it takes none, and waits for none."""
    is_hedge: bool = False
    """This is a second request for a page that is slow: it must not join the first one."""
    on_body: Callable[[], None] | None = None
    """Called once the first part of the page itself is there."""
    warn: Warn = log_warning
    """Receives what goes wrong beside the page, such as a damaged cache."""


class PageFetch(Protocol):
    """Fetches pages: `HttpFetcher.fetch`, and what wraps it for the pages of one question."""

    async def __call__(self, request: PageRequest) -> Download:
        """Fetch one page; raises `FetchError`."""
        ...
