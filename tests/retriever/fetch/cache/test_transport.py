"""The cache around a fetcher: what is shared, what is kept apart, and what happens while servers fail."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from citewell.core.errors import FetchError
from citewell.retriever.fetch.cache.policy import HOUR
from citewell.retriever.fetch.download import ContentTypeError, Download
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget
from citewell.retriever.fetch.page_request import PageRequest

from .conftest import Clock, Origin

if TYPE_CHECKING:
    from .conftest import Serve, Web

FRESH = {"Cache-Control": "max-age=60"}


async def test_a_page_is_used_in_the_scope_alone_in_which_it_was_made(local_web: Web) -> None:
    local_web.origin.headers = FRESH
    sources = []
    for scope in ("all", "few", "few", "all"):
        async with local_web.open(scope=scope) as fetcher:
            sources.append((await fetcher.get(local_web.url)).source)
    assert sources == ["network", "network", "cache", "cache"]


async def test_a_page_says_when_it_was_read(local_web: Web) -> None:
    local_web.origin.headers = FRESH
    local_web.clock.ahead = -3 * 24 * HOUR
    async with local_web.open() as fetcher:
        fetched = await fetcher.get(local_web.url)
    async with local_web.open() as fetcher:  # pages are stored in the background until the fetcher is closed
        cached = await fetcher.get(local_web.url)
    assert (fetched.source, cached.source) == ("network", "cache")
    assert 3 * 24 * HOUR - 60 < fetched.received_at - cached.received_at < 3 * 24 * HOUR + 60
    assert cached.day < fetched.day


async def test_equal_requests_at_the_same_time_are_one(serve: Serve, local_web: Web) -> None:
    arrived, released = asyncio.Event(), asyncio.Event()
    asked = 0

    async def slow(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        arrived.set()
        await released.wait()
        return web.Response(text="Slow.", headers={"Cache-Control": "no-store"})

    url = await serve({"/slow": slow}) + "/slow"
    async with local_web.open() as fetcher:
        pages = [asyncio.create_task(fetcher.get(url)) for _ in range(5)]
        await arrived.wait()
        pages[0].cancel()
        released.set()
        outcomes = await asyncio.gather(*pages, return_exceptions=True)
    assert isinstance(outcomes[0], asyncio.CancelledError)
    assert [page.body for page in outcomes[1:]] == [b"Slow."] * 4  # type: ignore[union-attr]
    assert asked == 1


async def test_a_hedged_request_is_one_of_its_own(serve: Serve, local_web: Web) -> None:
    arrived, asked = asyncio.Event(), 0

    async def first_hangs(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        if asked == 1:
            arrived.set()
            await asyncio.Event().wait()
        return web.Response(text="Second.")

    url = await serve({"/slow": first_hangs}) + "/slow"
    async with local_web.open() as fetcher:
        hanging = asyncio.create_task(fetcher.get(url))
        await arrived.wait()
        assert (await fetcher.fetch(PageRequest(url, is_hedge=True))).body == b"Second."
        hanging.cancel()
        await asyncio.gather(hanging, return_exceptions=True)


async def test_each_user_judges_the_type_of_content(local_web: Web) -> None:
    local_web.origin.headers = FRESH | {"Content-Type": "image/svg+xml"}
    local_web.origin.body = "\x00\x01\x02"
    async with local_web.open() as fetcher:
        raw = await fetcher.get_part(local_web.url)
        assert raw.content_type == "image/svg+xml"
    async with local_web.open() as fetcher:
        with pytest.raises(ContentTypeError):
            await fetcher.get(local_web.url)
        assert (await fetcher.get_part(local_web.url)).source == "cache"
    assert len(local_web.origin.asked) == 1


@pytest.mark.parametrize(("holds", "source"), [(False, "network"), (True, "validated")])
async def test_outdated_pages_take_no_memory_while_their_server_is_asked(
    local_web: Web, holds: bool, source: str
) -> None:
    local_web.origin.headers = {"Cache-Control": "max-age=1", "ETag": '"a"'}
    local_web.origin.body = "a" * 180_000
    urls = [f"{local_web.url}?{number}" for number in range(6)]
    reading = 0
    budget = MemoryBudget(max_bytes=1_000_000, page_bytes=200_000)  # for one page of this size at a time

    async def read(fetcher: HttpFetcher, url: str) -> Download:
        nonlocal reading
        with Lease(budget) as lease:
            page = await fetcher.fetch(PageRequest(url, lease))
            reading += 1
            await asyncio.sleep(0.01)
            assert reading == 1
            reading -= 1
            return page

    async with local_web.open() as fetcher:
        await asyncio.gather(*(read(fetcher, url) for url in urls))
    local_web.clock.ahead = 10
    local_web.origin.holds = holds
    async with local_web.open() as fetcher:
        pages = await asyncio.wait_for(asyncio.gather(*(read(fetcher, url) for url in urls)), 60)
    assert {(page.source, len(page.body)) for page in pages} == {(source, 180_000)}


async def test_a_page_that_is_larger_than_allowed_now_is_asked_for_again(local_web: Web) -> None:
    local_web.origin.headers = FRESH
    local_web.origin.body = "a" * 1_000
    for most_bytes, source in ((5_000, "network"), (999, "network"), (1_000, "cache")):
        async with local_web.open(most_bytes=most_bytes) as fetcher:
            assert (await fetcher.get(local_web.url)).source == source


@pytest.mark.parametrize(("ahead", "source"), [(10, "stale"), (100_000, "")])
async def test_a_page_is_used_when_its_server_is_gone(
    ahead: float, source: str, local_web: Web, unused_tcp_port: int
) -> None:
    clock = Clock()
    origin = Origin(clock, {"Cache-Control": "max-age=1"})
    app = web.Application()
    app.router.add_get("/page", origin.page)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    url = f"http://127.0.0.1:{unused_tcp_port}/page"
    async with local_web.open() as fetcher:
        await fetcher.get(url)
    await runner.cleanup()
    local_web.clock.ahead = ahead
    async with local_web.open() as fetcher:
        if source:
            assert (await fetcher.get(url)).source == source
        else:
            with pytest.raises(FetchError) as failure:
                await fetcher.get(url)
            assert failure.value.kind == "connect"


async def test_robots_txt_is_kept_for_a_day_and_obeyed_from_the_cache(serve: Serve, local_web: Web) -> None:
    asked: list[str] = []

    async def robots(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text="User-agent: *\nDisallow: /no")

    async def page(request: web.Request) -> web.Response:
        asked.append(request.path)
        return web.Response(text="Page.", headers={"Cache-Control": "no-store"})

    address = await serve({"/robots.txt": robots, "/yes": page, "/no": page})
    for ahead in (0, 23 * HOUR, 25 * HOUR):
        local_web.clock.ahead = ahead
        async with local_web.open(robots=True) as fetcher:
            await fetcher.get(f"{address}/yes")
            with pytest.raises(FetchError, match=r"robots\.txt"):
                await fetcher.get(f"{address}/no")
    assert asked == ["/robots.txt", "/yes", "/yes", "/robots.txt", "/yes"]
