"""The pages of one question: fetched, read and ranked as they come."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from threading import Lock

from citewell.core.types import Failure, Hit, Page, Reference
from citewell.retriever.expected_references import promise
from citewell.retriever.extract.extractor import Extractor
from citewell.retriever.fetch.budgeted import BudgetedFetch
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.memory_budget import MemoryBudget
from citewell.retriever.fetch.notices import Warn, log_warning
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.fetch.pages import FetchWait, fetch_all
from citewell.retriever.fetch.share import HostShare
from citewell.retriever.ranking import Ranking
from citewell.retriever.search.provider import PageSource

# Passages encoded at a time, those first that BM25 puts first: few, so that a page that comes does not wait.
# After the last page somebody waits: then so many steps in a row without a change of the references end it.
_STEP, _IDLE = 4, 2
# Where the pages were there soon, there is time to encode all of them.
_SOON = 0.3  # seconds from the start of the stage


@dataclass(frozen=True, slots=True)
class WaitPolicy:
    """How long pages are waited for; `citewell.core.settings` describes each number."""

    deadline: float = 5.0
    patience: float = 3.0
    hedge_after: float = 0.75
    hedges: int = 3
    host_pages: int = 20


class RetrievalStage:
    """Reads the pages of a question's hits and ranks their passages meanwhile.

    Pages that `held` holds are taken from there, the others are fetched with `fetch` when there is `room` and
    read by `extractor`. The stage ends `patience · √n` seconds after its start, where n is the number of
    references that the pages on their way promise (`citewell.retriever.expected_references`), and at the
    deadline in any case. The root is right where delays have a density that falls with the square of time:
    then the gain of a moment more, n / t², has fallen to the same value whenever the stage ends.
    `benchmarks.waiting_rules` compares it with other rules.
    """

    def __init__(
        self,
        ranking: Ranking,
        hits: Sequence[Hit],
        k: int,
        *,
        held: PageSource | None,
        fetch: PageFetch,
        extractor: Extractor,
        waiting: WaitPolicy,
        room: MemoryBudget | None = None,
        warn: Warn = log_warning,
    ) -> None:
        """Prepare to read the pages of `hits` for the `k` best passages."""
        self._ranking = ranking
        self._hits = hits
        self._k = k
        self._held = held
        self._fetched = BudgetedFetch(fetch, room or MemoryBudget())
        share = HostShare(self._fetched, waiting.host_pages)
        self._fetch = HedgedFetch(share, after=waiting.hedge_after, max_hedges=waiting.hedges)
        self._extractor = extractor
        self._waiting = waiting
        self._patience = FetchWait(waiting.deadline)
        self._warn = warn
        self._places: dict[str, int] = {}
        for place, hit in enumerate(hits):
            self._places.setdefault(hit.url, place)
        self._pending: set[int] = set()
        self._arrived: deque[tuple[int, Page]] = deque()
        self._soon = math.inf
        self._news = asyncio.Event()
        self._lock = Lock()

    async def pages(self) -> AsyncGenerator[Page | Failure, None]:
        """Yield each page, or why there is none, as it comes."""
        held = await asyncio.to_thread(self._held_pages)
        for url, place in self._places.items():
            if page := held.get(url):
                self._arrived.append((place, page))
                yield page
            else:
                self._pending.add(place)
        if not self._pending:
            return
        self._soon = time.monotonic() + _SOON
        self._extractor.warm_up()
        self._news.set()
        ranker = asyncio.create_task(self._rank_along())
        requests = [PageRequest(self._hits[place].url, warn=self._warn) for place in sorted(self._pending)]
        try:
            async with aclosing(fetch_all(requests, self._fetch, self._page, self._patience)) as outcomes:
                async for outcome in outcomes:
                    if isinstance(outcome, Failure):
                        self._settle(self._places[outcome.url])
                    yield outcome
        finally:
            self._fetched.close()
            ranker.cancel()
            (ended,) = await asyncio.gather(ranker, return_exceptions=True)
            if isinstance(ended, Exception):
                raise ended

    def _held_pages(self) -> dict[str, Page]:
        source = self._held
        return {url: page for url in self._places if (page := source.page(url))} if source else {}

    async def references(self) -> tuple[Reference, ...]:
        """The best passages of all pages that came."""
        return await asyncio.to_thread(self._top)

    async def _page(self, download: Download) -> Page:
        place = self._places[download.requested]
        title = self._hits[place].title
        try:
            page = await self._extractor.extract(download.body, download.url, download.content_type, title)
        finally:
            self._fetched.release(download.requested)
        self._arrived.append((place, page))
        self._settle(place)
        return page

    def _settle(self, place: int) -> None:
        self._pending.discard(place)
        self._news.set()

    async def _rank_along(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            # What has come must be ranked in any case: meanwhile, what has not may come.
            self._patience.wait_until(self._waiting.deadline)
            while await asyncio.to_thread(self._advance):
                pass
            expected = await asyncio.to_thread(self._expected, tuple(self._pending))
            if not self._news.is_set():
                self._patience.wait_until(self._waiting.patience * math.sqrt(expected))

    def _advance(self) -> bool:
        with self._lock:
            self._take()
            return self._ranking.advance(_STEP)

    def _expected(self, pending: Sequence[int]) -> float:
        with self._lock:
            known = self._ranking.known(self._k)
            least = known[-1].score if len(known) == self._k else None
            snippets = [f"{self._hits[place].title}. {self._hits[place].snippet}" for place in pending]
            scores = self._ranking.relevance(snippets)
            return sum(promise(score, place, least) for score, place in zip(scores, pending, strict=True))

    def _top(self) -> tuple[Reference, ...]:
        with self._lock:
            self._take()
            references, idle = self._ranking.known(self._k), 0
            while (idle < _IDLE or time.monotonic() < self._soon) and self._ranking.advance(_STEP):
                references, before = self._ranking.known(self._k), references
                idle = 0 if references != before else idle + 1
            return references

    def _take(self) -> None:
        while self._arrived:
            place, page = self._arrived.popleft()
            self._ranking.add(place, page.passages, page.date)
