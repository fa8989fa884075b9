"""The fetch stage: pages as they arrive, failures with their reasons, one deadline for all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest
from aiohttp import web

from core.errors import FetchError
from core.types import Failure
from retriever.fetch.download import Download
from retriever.fetch.http import HttpFetcher
from retriever.fetch.pages import fetch_all

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


def download(url: str) -> Download:
    return Download(url, "text/plain", b"text", 200, requested=url)


async def test_good_pages_arrive_while_late_ones_are_reported(serve: Serve, fetcher: HttpFetcher) -> None:
    async def page(_: web.Request) -> web.Response:
        return web.Response(text="a page")

    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(0.6)
        return web.Response(text="slow")

    async def never(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response(text="never")

    base = await serve({"/page": page, "/slow": slow, "/never": never})
    urls = [f"{base}/never", f"{base}/slow", f"{base}/missing", f"{base}/page"]
    started = time.monotonic()
    outcomes = [outcome async for outcome in fetch_all(urls, fetcher.get, deadline=1.5)]
    assert 1.4 < time.monotonic() - started < 10

    assert {o.requested for o in outcomes[:3] if isinstance(o, Download)} == {urls[1], urls[3]}
    assert Failure(urls[2], "the server answered 404 Not Found") in outcomes[:2]
    assert isinstance(outcomes[2], Download)
    assert outcomes[2].body == b"slow"
    assert outcomes[3:] == [Failure(urls[0], "late: no answer within 1.5 s")]


async def test_all_pages_are_fetched_at_the_same_time() -> None:
    everyone = asyncio.Barrier(10)

    async def get(url: str) -> Download:
        await everyone.wait()
        return download(url)

    urls = [f"http://example.org/{n}" for n in range(10)]
    outcomes = [outcome async for outcome in fetch_all(urls, get, deadline=10)]
    assert [outcome.url for outcome in outcomes] == urls


async def test_a_url_that_is_listed_twice_is_fetched_once() -> None:
    asked: list[str] = []

    async def get(url: str) -> Download:
        asked.append(url)
        return download(url)

    outcomes = [outcome async for outcome in fetch_all(["http://a/", "http://a/"], get, 1)]
    assert outcomes == [download("http://a/")]
    assert asked == ["http://a/"]


async def test_nothing_to_fetch_takes_no_time() -> None:
    async def get(url: str) -> Download:
        raise AssertionError(url)

    assert [outcome async for outcome in fetch_all([], get, deadline=30)] == []


async def test_pages_that_arrive_while_the_reader_is_busy_are_not_lost() -> None:
    async def get(url: str) -> Download:
        await asyncio.sleep(0.02 if url == "http://second/" else 0)
        return download(url)

    outcomes = []
    async for outcome in fetch_all(["http://first/", "http://second/"], get, deadline=0.1):
        outcomes.append(outcome)
        await asyncio.sleep(0.3)
    assert outcomes == [download("http://first/"), download("http://second/")]


@pytest.mark.parametrize("by", ["closing", "cancelling"])
async def test_stopping_early_cancels_the_requests(by: str) -> None:
    running: set[str] = set()

    async def get(url: str) -> Download:
        if url == "http://good/":
            return download(url)
        running.add(url)
        try:
            await asyncio.sleep(30)
        finally:
            running.discard(url)
        raise FetchError("never reached")

    async def read(first_only: bool) -> None:
        urls = ["http://good/", "http://slow/", "http://slower/"]
        async with aclosing(fetch_all(urls, get, deadline=30)) as pages:
            async for _ in pages:
                assert running == {"http://slow/", "http://slower/"}
                if first_only:
                    break

    if by == "closing":
        await read(first_only=True)
    else:
        task = asyncio.create_task(read(first_only=False))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert running == set()


async def test_late_requests_have_ended_before_they_are_reported() -> None:
    ended = asyncio.Event()

    async def get(url: str) -> Download:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return download(url)

    async for outcome in fetch_all(["http://late/"], get, deadline=0.05):
        assert isinstance(outcome, Failure)
        assert ended.is_set()


async def test_a_fault_of_the_program_is_not_a_failed_page() -> None:
    async def get(url: str) -> Download:
        raise ZeroDivisionError(url)

    with pytest.raises(ZeroDivisionError):
        async for _ in fetch_all(["http://a/"], get, deadline=1):
            pass
