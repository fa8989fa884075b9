"""The fetch stage: pages as they arrive, failures with their reasons, one deadline for all."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import pytest
from aiohttp import web

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.types import Failure
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.fetch.page_request import PageFetch, PageRequest
from citewell.retriever.fetch.pages import FetchWait, fetch_all

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


def download(url: str) -> Download:
    return Download(url, "text/plain", b"text", 200, requested=url)


async def as_it_is(page: Download) -> Download:
    return page


def requests(*urls: str) -> list[PageRequest]:
    return [PageRequest(url) for url in urls]


def stage(urls: list[str], get: PageFetch, deadline: float) -> AsyncGenerator[Download | Failure, None]:
    return fetch_all(requests(*urls), get, as_it_is, FetchWait(deadline))


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
    outcomes = [outcome async for outcome in stage(urls, fetcher.fetch, 1.5)]
    assert 1.4 < time.monotonic() - started < 10

    assert {o.requested for o in outcomes[:3] if isinstance(o, Download)} == {urls[1], urls[3]}
    assert Failure(urls[2], "the server answered 404 Not Found", "status") in outcomes[:2]
    assert isinstance(outcomes[2], Download)
    assert outcomes[2].body == b"slow"
    assert outcomes[3:] == [Failure(urls[0], "late: no answer within 1.5 s", "late")]


async def test_all_pages_are_fetched_at_the_same_time() -> None:
    everyone = asyncio.Barrier(10)

    async def get(request: PageRequest) -> Download:
        await everyone.wait()
        return download(request.url)

    urls = [f"http://example.org/{n}" for n in range(10)]
    outcomes = [outcome async for outcome in stage(urls, get, 10)]
    assert [outcome.url for outcome in outcomes] == urls


async def test_a_url_that_is_listed_twice_is_fetched_once() -> None:
    asked: list[str] = []

    async def get(request: PageRequest) -> Download:
        asked.append(request.url)
        return download(request.url)

    outcomes = [outcome async for outcome in stage(["http://a/", "http://a/"], get, 1)]
    assert outcomes == [download("http://a/")]
    assert asked == ["http://a/"]


async def test_nothing_to_fetch_takes_no_time() -> None:
    async def get(request: PageRequest) -> Download:
        raise AssertionError(request.url)

    assert [outcome async for outcome in stage([], get, 30)] == []


async def test_pages_that_arrive_while_the_reader_is_busy_are_not_lost() -> None:
    async def get(request: PageRequest) -> Download:
        await asyncio.sleep(0.02 if request.url == "http://second/" else 0)
        return download(request.url)

    outcomes = []
    async for outcome in stage(["http://first/", "http://second/"], get, 0.1):
        outcomes.append(outcome)
        await asyncio.sleep(0.3)
    assert outcomes == [download("http://first/"), download("http://second/")]


@pytest.mark.parametrize("by", ["closing", "cancelling"])
async def test_stopping_early_cancels_the_requests(by: str) -> None:
    running: set[str] = set()

    async def get(request: PageRequest) -> Download:
        if request.url == "http://good/":
            return download(request.url)
        running.add(request.url)
        try:
            await asyncio.sleep(30)
        finally:
            running.discard(request.url)
        raise FetchError("never reached")

    async def read(first_only: bool) -> None:
        urls = ["http://good/", "http://slow/", "http://slower/"]
        async with aclosing(stage(urls, get, 30)) as pages:
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

    async def get(request: PageRequest) -> Download:
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return download(request.url)

    async for outcome in stage(["http://late/"], get, 0.05):
        assert isinstance(outcome, Failure)
        assert ended.is_set()


async def test_a_fault_of_the_program_is_not_a_failed_page() -> None:
    async def get(request: PageRequest) -> Download:
        raise ZeroDivisionError(request.url)

    with pytest.raises(ZeroDivisionError):
        async for _ in stage(["http://a/"], get, 1):
            pass


async def test_the_stage_ends_early_when_wait_does() -> None:
    wait = FetchWait(30)
    ended = asyncio.Event()

    async def get(request: PageRequest) -> Download:
        if request.url == "http://good/":
            return download(request.url)
        try:
            await asyncio.sleep(30)
        finally:
            ended.set()
        return download(request.url)

    outcomes = []
    async for outcome in fetch_all(requests("http://slow/", "http://good/"), get, as_it_is, wait):
        outcomes.append(outcome)
        wait.wait_until(0.05)
    assert outcomes[0] == download("http://good/")
    assert outcomes[1] == Failure(
        "http://slow/", "late: not there after 0.1 s, when what had arrived was enough", "late"
    )
    assert ended.is_set()


async def test_wait_may_come_back() -> None:
    wait = FetchWait(30)
    asked, answer = asyncio.Event(), asyncio.Event()

    async def get(request: PageRequest) -> Download:
        asked.set()
        await answer.wait()
        return download(request.url)

    async def read_all() -> list[Download | Failure]:
        return [outcome async for outcome in fetch_all(requests("http://slow/"), get, as_it_is, wait)]

    wait.wait_until(20)
    reading = asyncio.create_task(read_all())
    await asked.wait()
    wait.wait_until(100)  # never beyond the deadline
    assert wait.until == 30
    answer.set()
    assert await reading == [download("http://slow/")]


async def test_a_page_that_is_there_at_the_end_is_still_read() -> None:
    wait = FetchWait(30)
    arrived = asyncio.Event()

    async def get(request: PageRequest) -> Download:
        if request.url == "http://never/":
            await asyncio.sleep(30)
        arrived.set()
        return download(request.url)

    async def read(page: Download) -> str:
        wait.wait_until(0)
        await asyncio.sleep(0.1)
        return page.url

    outcomes = [
        outcome async for outcome in fetch_all(requests("http://a/", "http://never/"), get, read, wait)
    ]
    assert outcomes[0] == "http://a/"
    assert isinstance(outcomes[1], Failure)
    assert outcomes[1].kind == "late"


async def test_a_page_without_text_is_a_failure() -> None:
    async def get(request: PageRequest) -> Download:
        return download(request.url)

    async def read(page: Download) -> Download:
        raise ExtractionError("it holds no readable text")

    outcomes = [outcome async for outcome in fetch_all(requests("http://a/"), get, read, FetchWait(5))]
    assert outcomes == [Failure("http://a/", "it holds no readable text", "extract")]
