"""The pages of one question: fetched, read and ranked as they come."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from citewell.core.errors import FetchError
from citewell.core.types import Failure, Hit, Page, Reference
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.fetch.budgeted import BudgetedFetch
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.fetch.notices import Warn, log_warning
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.fetch.pages import FetchWait, fetch_all
from citewell.retriever.fetch.share import HostShare
from citewell.retriever.page_ranking import PageRanking
from citewell.retriever.ranking import Ranking
from citewell.retriever.search.provider import PageSource
from citewell.retriever.search.urls import host_of

# Pages that arrive within this many seconds leave time to encode all of their passages.
_QUICK_SECONDS = 0.3
_HIDDEN = "it holds the question word for word"
_LEFT_OUT = "it redirects to a site that is left out"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitPolicy:
    """The limits on waiting for a question's pages and on repeating their requests."""

    deadline: float = 5.0
    """Seconds after which the stage ends in any case."""
    patience: float = 3.0
    """Seconds to wait for pages that are expected to give one reference."""
    hedge_after: float = 0.75
    """Seconds without an answer after which a page is requested a second time."""
    hedges: int = 3
    """Maximum number of pages that are requested twice."""
    host_pages: int = 20
    """Maximum number of pages of one host."""


class RetrievalStage:
    """Reads the pages of a question's hits and ranks their passages meanwhile.

    The stage ends `patience · √n` seconds after its start, where n is the number of references that are
    expected from the pending pages (`citewell.retriever.expected_references`), and at the deadline in any
    case. The root is right where delays have a density that falls with the square of time: then the gain of
    another moment, n / t², has fallen to the same value whenever the stage ends. `benchmarks.waiting_rules`
    compares it with other rules.
    """

    def __init__(
        self,
        *,
        ranking: Ranking,
        hits: Sequence[Hit],
        k: int,
        fetch: PageFetch,
        extractor: Extractor,
        wait: WaitPolicy,
        collection: PageSource | None = None,
        memory: MemoryBudget | None = None,
        warn: Warn = log_warning,
        hides: Callable[[Page], bool] = lambda page: False,
        allows: Callable[[str], bool] = lambda url: True,
    ) -> None:
        """Prepare to read the pages of `hits` for the `k` best passages.

        Pages stored in `collection` are read from it. The others are fetched with `fetch` within `memory`,
        and read by `extractor`. `warn` receives warnings besides the pages themselves. Pages that `hides`
        picks out, since they give the question away, count as failures, and so do those that redirect to a
        URL that `allows` refuses.
        """
        self._hides = hides
        self._allows = allows
        self._ranking = PageRanking(ranking=ranking, hits=hits, k=k)
        self._hits = hits
        self._collection = collection
        self._budgeted = BudgetedFetch(fetch, memory or MemoryBudget())
        share = HostShare(self._budgeted, wait.host_pages)
        self._fetch = HedgedFetch(share, after=wait.hedge_after, max_hedges=wait.hedges)
        self._extractor = extractor
        self._policy = wait
        self._wait = FetchWait(wait.deadline)
        self._warn = warn
        self._positions: dict[str, int] = {}
        for position, hit in enumerate(hits):
            self._positions.setdefault(hit.url, position)
        self._pending: set[int] = set()
        self._encode_until = math.inf
        self._changed = asyncio.Event()

    async def pages(self) -> AsyncGenerator[Page | Failure, None]:
        """Yield each page, or the reason why it failed, as it comes."""
        stored = await asyncio.to_thread(self._pages_of_collection)
        for url, position in self._positions.items():
            if url in stored:
                page, vectors = stored[url]
                if self._hides(page):
                    yield Failure(url, _HIDDEN, "hidden")
                    continue
                self._ranking.add(position, page, vectors)
                yield page
            else:
                self._pending.add(position)
        if not self._pending:
            return
        self._encode_until = time.monotonic() + _QUICK_SECONDS
        self._extractor.warm_up()
        self._changed.set()
        ranker = asyncio.create_task(self._rank_along())
        requests = [
            PageRequest(self._hits[position].url, warn=self._warn) for position in sorted(self._pending)
        ]
        try:
            async with aclosing(fetch_all(requests, self._fetch, self._page, self._wait)) as outcomes:
                async for outcome in outcomes:
                    if isinstance(outcome, Failure):
                        self._settle(self._positions[outcome.url])
                    yield outcome
        finally:
            self._budgeted.close()
            ranker.cancel()
            (ended,) = await asyncio.gather(ranker, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended

    async def references(self) -> tuple[Reference, ...]:
        """Return the best passages of all pages that arrived."""
        return await asyncio.to_thread(self._ranking.top, self._encode_until)

    def _pages_of_collection(self) -> dict[str, tuple[Page, Vectors | None]]:
        source = self._collection
        if source is None:
            return {}
        pages = (page for url in self._positions if (page := source.page(url)))
        return {page.url: (page, source.vectors(page)) for page in pages}

    async def _page(self, download: Download) -> Page:
        position = self._positions[download.requested]
        title = self._hits[position].title
        try:
            if not self._allows(download.url):
                raise FetchError(f"{_LEFT_OUT}: {host_of(download.url)}", kind="redirect")
            page = await self._extractor.extract(download.body, download.url, download.content_type, title)
        finally:
            self._budgeted.release(download.requested)
        page = replace(page, read=download.day)
        if self._hides(page):
            raise FetchError(_HIDDEN, kind="hidden")
        self._ranking.add(position, page)
        self._settle(position)
        return page

    def _settle(self, position: int) -> None:
        self._pending.discard(position)
        self._changed.set()

    async def _rank_along(self) -> None:
        """Rank what has arrived, and move the end of the stage by what is still pending."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            # Pages that have arrived must be ranked anyway; meanwhile, others may arrive.
            self._wait.wait_until(self._policy.deadline)
            while await asyncio.to_thread(self._ranking.advance):
                pass
            expected = await asyncio.to_thread(self._ranking.expected, tuple(self._pending))
            if not self._changed.is_set():
                self._wait.wait_until(self._policy.patience * math.sqrt(expected))
