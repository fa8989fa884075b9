"""A second request for pages that are slow or failed for the moment, over real sockets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download, HttpStatusError
from citewell.retriever.fetch.hedge import HedgedFetch
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.fetch.page_request import PageRequest

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]
SOON = 0.05


class Site:
    """A page whose first request hangs until it is told, or does something else."""

    def __init__(self, first: Handler | None = None) -> None:
        self.requests = 0
        self.over = asyncio.Event()
        self._first = first or self._hang

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        if self.requests == 1:
            return await self._first(request)
        return web.Response(text=f"request {self.requests}")

    async def _hang(self, request: web.Request) -> web.StreamResponse:
        await asyncio.wait_for(self.over.wait(), 120)
        return web.Response(text="request 1")


def answering(status: int, **headers: str) -> Handler:
    async def answer(_: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text="a page", headers=named)

    return answer


async def reset(request: web.Request) -> web.StreamResponse:
    assert request.transport
    request.transport.abort()
    return web.Response()


async def test_the_second_request_for_a_slow_page_wins(serve: Serve, fetcher: HttpFetcher) -> None:
    site = Site()
    base = await serve({"/": site.answer})
    started = time.monotonic()
    page = await HedgedFetch(fetcher.fetch, after=SOON, max_hedges=3)(PageRequest(f"{base}/"))
    assert page.body == b"request 2"
    assert SOON <= time.monotonic() - started < 5
    assert site.requests == 2
    site.over.set()


async def test_the_first_request_may_still_win() -> None:
    second, cancelled = asyncio.Event(), asyncio.Event()

    async def fetch(request: PageRequest) -> Download:
        if not request.is_hedge:
            await second.wait()
            return Download(request.url, "text/plain", b"first", 200, request.url)
        second.set()
        try:
            await asyncio.sleep(30)
        finally:
            cancelled.set()
        raise AssertionError

    page = await HedgedFetch(fetch, after=SOON, max_hedges=3)(PageRequest("http://a/"))
    assert page.body == b"first"
    assert cancelled.is_set()


async def test_a_page_in_time_is_asked_for_once(serve: Serve, fetcher: HttpFetcher) -> None:
    site = Site(answering(200))
    base = await serve({"/": site.answer})
    await HedgedFetch(fetcher.fetch, after=5, max_hedges=3)(PageRequest(f"{base}/"))
    assert site.requests == 1


async def test_without_a_time_only_failures_are_tried_again(serve: Serve, fetcher: HttpFetcher) -> None:
    site = Site(reset)
    base = await serve({"/": site.answer})
    assert (
        await HedgedFetch(fetcher.fetch, after=None, max_hedges=1)(PageRequest(f"{base}/"))
    ).body == b"request 2"
    site = Site(answering(404))
    base = await serve({"/": site.answer})
    with pytest.raises(HttpStatusError, match="404"):
        await HedgedFetch(fetcher.fetch, after=None, max_hedges=1)(PageRequest(f"{base}/"))
    assert site.requests == 1


@pytest.mark.parametrize("first", [reset, answering(502), answering(503), answering(504)])
async def test_what_fails_for_the_moment_is_tried_again(
    serve: Serve, fetcher: HttpFetcher, first: Handler
) -> None:
    site = Site(first)
    base = await serve({"/": site.answer})
    page = await HedgedFetch(fetcher.fetch, after=5, max_hedges=3)(PageRequest(f"{base}/"))
    assert page.body == b"request 2"


@pytest.mark.parametrize(
    "first", [answering(404), answering(500), answering(429), answering(503, Retry_After="60")]
)
async def test_what_fails_for_good_is_not(serve: Serve, fetcher: HttpFetcher, first: Handler) -> None:
    site = Site(first)
    base = await serve({"/": site.answer})
    with pytest.raises(HttpStatusError):
        await HedgedFetch(fetcher.fetch, after=5, max_hedges=3)(PageRequest(f"{base}/"))
    assert site.requests == 1


async def test_two_failures_are_told_as_the_first(serve: Serve, fetcher: HttpFetcher) -> None:
    async def busy(_: web.Request) -> web.StreamResponse:
        return web.Response(status=next(statuses))

    statuses = iter((502, 404))
    base = await serve({"/": busy})
    with pytest.raises(HttpStatusError, match="502"):
        await HedgedFetch(fetcher.fetch, after=5, max_hedges=3)(PageRequest(f"{base}/"))


async def test_a_page_that_has_begun_to_arrive_is_not_asked_for_again(
    serve: Serve, fetcher: HttpFetcher
) -> None:
    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        await response.write(b"a page" * 1000)
        await asyncio.sleep(6 * SOON)
        await response.write_eof()
        return response

    site = Site(trickle)
    base = await serve({"/": site.answer})
    page = await HedgedFetch(fetcher.fetch, after=4 * SOON, max_hedges=3)(PageRequest(f"{base}/"))
    assert len(page.body) == 6000
    assert site.requests == 1


async def test_only_so_many_pages_are_asked_for_twice() -> None:
    asked: Counter[str] = Counter()
    all_asked = asyncio.Event()

    async def fetch(request: PageRequest) -> Download:
        asked[request.url] += 1
        if asked.total() == 7:
            all_asked.set()
        await all_asked.wait()
        return Download(request.url, "text/plain", b"", 200, request.url)

    get = HedgedFetch(fetch, after=SOON, max_hedges=2)
    await asyncio.wait_for(
        asyncio.gather(*(get(PageRequest(f"http://{number}/")) for number in range(5))), 60
    )
    assert sorted(asked.values()) == [1, 1, 1, 2, 2]


async def test_a_host_that_is_busy_gets_no_hedged_request() -> None:
    requests: list[str] = []
    slow = asyncio.Event()

    async def fetch(request: PageRequest) -> Download:
        requests.append(request.url)
        if request.url.endswith("/busy"):
            raise HttpStatusError(429)
        await slow.wait()
        return Download(request.url, "text/plain", b"", 200, request.url)

    get = HedgedFetch(fetch, after=SOON, max_hedges=5)
    pages = [
        asyncio.create_task(get(PageRequest(url)))
        for url in ("http://a/busy", "http://a/slow", "http://b/slow")
    ]
    with pytest.raises(HttpStatusError):
        await pages[0]
    await asyncio.wait(pages, timeout=4 * SOON)
    assert Counter(requests) == {"http://a/busy": 1, "http://a/slow": 1, "http://b/slow": 2}
    slow.set()
    await asyncio.gather(*pages[1:])


async def test_cancelling_cancels_both_requests() -> None:
    running: set[bool] = set()
    both = asyncio.Event()

    async def fetch(request: PageRequest) -> Download:
        running.add(request.is_hedge)
        if len(running) == 2:
            both.set()
        try:
            await asyncio.sleep(30)
        finally:
            running.discard(request.is_hedge)
        raise FetchError("never reached")

    page = asyncio.create_task(HedgedFetch(fetch, after=SOON, max_hedges=1)(PageRequest("http://a/")))
    await both.wait()
    page.cancel()
    with pytest.raises(asyncio.CancelledError):
        await page
    assert running == set()


async def test_a_fault_of_the_program_is_raised() -> None:
    async def fetch(request: PageRequest) -> Download:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await HedgedFetch(fetch, after=5, max_hedges=1)(PageRequest("http://a/"))
