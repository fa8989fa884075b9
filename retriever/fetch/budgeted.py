"""The pages of one question take their room until they have been read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from typing import Any, Protocol

from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget


class PageFetch(Protocol):
    """A `Fetch` that takes the room of a page from `hold`: `HttpFetcher.get`."""

    def __call__(
        self,
        url: str,
        *,
        hedge: bool = False,
        on_body: Callable[[], None] | None = None,
        hold: Lease | None = None,
    ) -> Coroutine[Any, Any, Download]:
        """Fetch `url`, or raise `FetchError`."""
        ...


class BudgetedFetch:
    """Fetches pages that stay in `room` until they are released; speaks `Fetch`."""

    def __init__(self, fetch: PageFetch, room: MemoryBudget) -> None:
        """Fetch with `fetch`."""
        self._fetch = fetch
        self._room = room
        self._holds: dict[str, Lease] = {}
        self._stack = ExitStack()

    async def __call__(
        self, url: str, *, hedge: bool = False, on_body: Callable[[], None] | None = None
    ) -> Download:
        """Fetch `url` when there is room for it."""
        if url not in self._holds:
            self._holds[url] = self._stack.enter_context(self._room.hold())
        return await self._fetch(url, hedge=hedge, on_body=on_body, hold=self._holds[url])

    def release(self, url: str) -> None:
        """Give back what the page of `url` has taken."""
        self._holds[url].close()

    def close(self) -> None:
        """Give back what all pages have taken."""
        self._stack.close()
