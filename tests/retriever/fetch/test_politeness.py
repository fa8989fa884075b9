"""Hosts are asked a little at a time, and not at all when they want to be left alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import HttpStatusError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher
from citewell.retriever.fetch.politeness import Hosts, PoliteTransport
from citewell.retriever.fetch.transport import Request, Response

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Answering:
    """A transport that gives one answer to everything, and notes what it was asked."""

    def __init__(self, status: int = 200, retry_after: str | None = None) -> None:
        self.status = status
        self.headers = CIMultiDict({"Retry-After": retry_after} if retry_after is not None else {})
        self.asked: list[str] = []

    async def send(self, request: Request) -> Response:
        self.asked.append(str(request.url))
        return Response(str(request.url), self.status, CIMultiDictProxy(self.headers))


def asking(url: str, spacing: float | None = None) -> Request:
    return Request(URL(url), {}, lambda declared, _: declared, spacing=spacing)


async def test_few_requests_to_one_host_at_the_same_time(serve: Serve, guard: AddressGuard) -> None:
    under_way: dict[str, int] = {}
    most: dict[str, int] = {}

    async def page(request: web.Request) -> web.Response:
        host = request.host
        under_way[host] = under_way.get(host, 0) + 1
        most[host] = max(most.get(host, 0), under_way[host])
        await asyncio.sleep(0.03)
        under_way[host] -= 1
        return web.Response(text="a page")

    bases = [await serve({"/{n}": page}) for _ in range(2)]
    urls = [f"{base}/{n}" for n in range(9) for base in bases]
    async with web_fetcher(guard=guard, hosts=Hosts(connections=3), robots=False) as fetcher:
        assert len(await asyncio.gather(*map(fetcher.get, urls))) == 18
    assert list(most.values()) == [3, 3]


@pytest.mark.alone
async def test_pages_of_one_host_are_spaced_out_and_other_requests_are_not(
    serve: Serve, guard: AddressGuard
) -> None:
    times: list[float] = []

    async def page(request: web.Request) -> web.Response:
        if request.path == "/moved":
            raise web.HTTPFound("/page")
        times.append(time.monotonic())
        return web.Response(text="a page")

    base = await serve({"/{name}": page})
    async with web_fetcher(guard=guard, hosts=Hosts(spacing=0.15)) as fetcher:
        await asyncio.gather(*(fetcher.get(f"{base}/{name}") for name in ("moved", "a", "b")))
        await fetcher.wait(f"{base}/c")
        await fetcher.get(f"{base}/c")
    robots, *pages = times
    assert pages[0] - robots < 0.15
    # None comes before its turn. On a busy machine one may be late, and the next then comes sooner after it.
    assert all(seconds - robots >= 0.15 * turn - 0.01 for turn, seconds in enumerate(pages))
    assert pages[-1] - pages[0] < 3


async def test_a_page_that_would_have_to_wait_too_long_fails_at_once() -> None:
    clock = Clock()
    inner = Answering()
    polite = PoliteTransport(inner, Hosts(max_wait=5, clock=clock))
    await polite.send(asking("http://slow.example/1", spacing=10))
    with pytest.raises(FetchError, match="wants 10 s between two requests") as raised:
        await polite.send(asking("http://slow.example/2", spacing=10))
    assert raised.value.kind == "robots"
    await polite.send(asking("http://slow.example/robots.txt"))
    await polite.send(asking("http://other.example/1", spacing=10))
    clock.now += 10
    await polite.send(asking("http://slow.example/2", spacing=10))
    assert len(inner.asked) == 4


@pytest.mark.parametrize(
    ("status", "retry_after", "rest"),
    [
        (429, "30", 30),
        (503, "30", 30),
        (429, None, 10),
        (429, "soon", 10),
        (429, "9" * 500, 3600),
        (503, None, 0),
        (503, "0", 0),
        (200, "30", 0),
        (404, "30", 0),
        (503, "Wed, 21 Oct 2099 07:28:00 GMT", 3600),
        (503, "Wed, 21 Oct 2015 07:28:00 GMT", 0),
        (429, "Wed, 21 Oct 99999999999999999999 07:28:00 GMT", 10),
    ],
)
async def test_a_host_is_left_alone_for_as_long_as_it_says(
    status: int, retry_after: str | None, rest: float
) -> None:
    clock = Clock()
    inner = Answering(status, retry_after)
    hosts = Hosts(clock=clock)
    polite = PoliteTransport(inner, hosts)
    assert (await polite.send(asking("http://busy.example/1"))).status == status
    # A crawl waits for at most a minute; after a longer break, it would be refused anyway.
    assert hosts.wait(URL("http://busy.example/2"), 0) == (rest if rest <= 60 else 0)
    if rest:
        clock.now += rest - 1
        with pytest.raises(FetchError, match="not to be asked again for another 1 s") as raised:
            await polite.send(asking("http://busy.example/2"))
        assert raised.value.kind == "rate_limited"
        await polite.send(asking("http://busy.example:8080/2"))
        clock.now += 1.01
    await polite.send(asking("http://busy.example/2"))
    assert inner.asked.count("http://busy.example/2") == 1


async def test_requests_that_wait_for_their_turn_are_refused_too(serve: Serve, guard: AddressGuard) -> None:
    asked: list[str] = []

    async def busy(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(status=429, headers={"Retry-After": "7"})

    base = await serve({"/{n}": busy})
    async with web_fetcher(guard=guard, hosts=Hosts(connections=1), robots=False) as fetcher:
        outcomes = await asyncio.gather(
            *(fetcher.get(f"{base}/{n}") for n in range(4)), return_exceptions=True
        )
    assert asked == ["/0"]
    assert isinstance(outcomes[0], HttpStatusError)
    assert [getattr(outcome, "kind", "") for outcome in outcomes] == ["rate_limited"] * 4


async def test_memory_is_bounded_and_hosts_in_use_are_not_forgotten() -> None:
    clock = Clock()
    hosts = Hosts(clock=clock)
    polite = PoliteTransport(Answering(429, "50"), hosts)
    for n in range(10_050):
        await polite.send(asking(f"http://h{n}.example/"))
    assert hosts.wait(URL("http://h0.example/"), 0) == 0
    assert hosts.wait(URL("http://h10049.example/"), 0) == 50
    assert len(hosts) == 10_000
