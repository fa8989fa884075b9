"""Room for pages: downloads wait for it, and none of them waits for ever or keeps what it does not need."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp import web

from citewell.core.errors import ExtractionError, FetchError
from citewell.core.types import Failure, Page
from citewell.retriever.fetch.budgeted import BudgetedFetch
from citewell.retriever.fetch.download import Download, FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher
from citewell.retriever.fetch.memory_budget import Lease, MemoryBudget
from citewell.retriever.fetch.pages import FetchWait, fetch_all

PAGE = 1_000
MOST = 10_000


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def download(hold: Lease, size: int, step: int = 100) -> None:
    with hold.part() as part:
        for reached in range(step, size + step, step):
            await part.reach(min(reached, size))
            await asyncio.sleep(0)
        part.keep(size)


async def test_what_a_page_takes_is_free_when_it_was_read() -> None:
    room = MemoryBudget(MOST, PAGE)
    with room.hold() as hold:
        await download(hold, 750)
        assert room.free == MOST - 750
        with hold.part() as part:  # another attempt, which fails
            await part.reach(500)
            assert room.free == MOST - 1250
        assert room.free == MOST - 750
    assert room.free == MOST


async def test_a_page_that_is_smaller_than_it_seemed_keeps_what_it_has() -> None:
    room = MemoryBudget(MOST, PAGE)
    with room.hold() as hold, hold.part() as part:
        await part.reach(900)
        part.keep(10)
        assert room.free == MOST - 10


async def test_an_attempt_that_ends_after_its_page_was_given_up_keeps_nothing() -> None:
    room = MemoryBudget(MOST, PAGE)
    with room.hold() as hold:
        part = hold.part()
        await part.reach(600)
    part.keep(600)
    assert room.free == MOST


async def test_pages_wait_and_are_served_in_turn() -> None:
    room = MemoryBudget(MOST, PAGE)
    begun: list[int] = []
    holds = [Lease(room) for _ in range(30)]

    async def fetch(number: int) -> None:
        with holds[number].part() as part:
            await part.reach(PAGE)
            begun.append(number)
            part.keep(PAGE)

    tasks = [asyncio.create_task(fetch(number)) for number in range(30)]
    await settled()
    first = len(begun)
    assert 0 < first < 10
    for number in range(30):
        holds[number].close()  # it was read
        await settled()
        assert begun == list(range(min(30, first + number + 1)))
    await asyncio.gather(*tasks)
    assert room.free == MOST


@pytest.mark.parametrize("seed", range(20))
async def test_no_page_waits_for_ever_and_the_bound_holds(seed: int) -> None:
    chance = random.Random(seed)
    room = MemoryBudget(MOST, PAGE)
    readers = asyncio.Semaphore(2)
    least = MOST

    async def fetch_and_read(size: int, ends: int) -> None:
        nonlocal least
        with room.hold() as hold:
            await download(hold, size, step=chance.choice([50, 100, 400]))
            least = min(least, room.free)
            async with readers:
                for _ in range(ends):
                    await asyncio.sleep(0)

    tasks = [
        asyncio.create_task(fetch_and_read(chance.choice([1, 100, 900, PAGE]), chance.randrange(5)))
        for _ in range(200)
    ]
    for task in chance.sample(tasks, 60):
        for _ in range(chance.randrange(10)):
            await asyncio.sleep(0)
        task.cancel()
    async with asyncio.timeout(20):
        await asyncio.gather(*tasks, return_exceptions=True)
    assert 0 <= least < MOST
    assert room.free == MOST


async def test_one_that_is_stuck_does_not_stop_the_others() -> None:
    room = MemoryBudget(MOST, PAGE)
    stuck = [Lease(room) for _ in range(12)]
    for hold in stuck:  # they have begun, and their servers say no more
        await hold.part().reach(500)
    async with asyncio.timeout(5):
        for _ in range(50):
            with room.hold() as hold:
                await download(hold, PAGE)


async def test_a_largest_page_has_room_whatever_the_bound_is() -> None:
    room = MemoryBudget(10, PAGE)
    with room.hold() as hold:
        await download(hold, PAGE)


Serve = Callable[[dict[str, Any]], Coroutine[Any, Any, str]]


async def test_waiting_for_room_is_no_silence_of_the_server(serve: Serve) -> None:
    body = b"A page of words and more words. " * 12_000  # 384 kB, of which aiohttp buffers a part

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="text/plain")

    base = await serve({"/": answer})
    room = MemoryBudget(1_000_000, 500_000)
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))
    limits = FetchLimits(body_bytes=500_000, silence_seconds=0.1)
    async with web_fetcher(limits, guard, robots=False) as fetcher:
        with room.hold() as other, room.hold() as hold, other.part() as part:

            async def crowd() -> None:
                await part.reach(1)
                await part.reach(400_000)
                await part.reach(480_000)

            def begins() -> None:
                crowds.append(asyncio.create_task(crowd()))

            crowds: list[asyncio.Task[None]] = []
            page = asyncio.create_task(fetcher.get(f"{base}/", hold=hold, on_body=begins))
            done, _ = await asyncio.wait([page], timeout=0.5)
            assert not done
            assert part.size == 480_000
            part.close()
            assert (await page).body == body


@pytest.mark.parametrize("coding", [None, web.ContentCoding.gzip])
async def test_pages_of_a_real_server_wait_for_those_that_read_them(
    serve: Serve, coding: web.ContentCoding | None
) -> None:
    body = b"<p>A page of words and more words.</p>" * 6_000  # 228 kB

    async def answer(_: web.Request) -> web.Response:
        response = web.Response(body=body, content_type="text/html")
        if coding:
            response.enable_compression(coding)
        return response

    base = await serve({"/{path:.*}": answer})
    room = MemoryBudget(2_000_000, 500_000)
    reading = most = 0

    async def read(page: Download) -> Page:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        await asyncio.sleep(0.02)
        assert page.body == body
        reading -= 1
        pages.release(page.requested)
        return Page(page.url, "", ())

    guard = AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))
    async with web_fetcher(FetchLimits(body_bytes=500_000), guard, robots=False) as fetcher:
        pages = BudgetedFetch(fetcher.get, room)
        urls = [f"{base}/{n}" for n in range(40)]
        async with aclosing(fetch_all(urls, pages, read, FetchWait(20))) as outcomes:
            got = [outcome async for outcome in outcomes]
        assert [outcome for outcome in got if isinstance(outcome, Failure)] == []
        assert 1 < most <= 2_000_000 // len(body)
        assert room.free == 2_000_000
        with pytest.raises((FetchError, ExtractionError)):
            await pages("http://127.0.0.1:1/")
        pages.close()
    assert room.free == 2_000_000
