"""A memory budget for the pages of one question, each counted until it has been read."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget
from citewell.retriever.fetch.page_request import PageFetch, PageRequest


class BudgetedFetch:
    """A fetch of pages within a memory budget; each page keeps its memory until it is released."""

    def __init__(self, fetch: PageFetch, budget: MemoryBudget) -> None:
        """Fetch with `fetch`."""
        self._fetch = fetch
        self._budget = budget
        self._leases: dict[str, Lease] = {}
        self._stack = ExitStack()

    async def __call__(self, request: PageRequest) -> Download:
        """Fetch one page when there is memory for it; all requests for a URL share one lease."""
        if request.url not in self._leases:
            self._leases[request.url] = self._stack.enter_context(Lease(self._budget))
        return await self._fetch(replace(request, lease=self._leases[request.url]))

    def release(self, url: str) -> None:
        """Free the memory of the page at `url`."""
        self._leases[url].close()

    def close(self) -> None:
        """Free the memory of all pages."""
        self._stack.close()
