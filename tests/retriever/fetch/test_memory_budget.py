"""The memory of pages: downloads wait for it, and none of them waits forever."""

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
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.fetch.pages import FetchWait, fetch_all

PAGE = 1_000
TOTAL = 10_000
SMALL = 100
OF_SMALL, OF_LARGE = 70, 3  # pages at a time


async def download(lease: Lease, size: int, step: int = 100) -> None:
    with lease.allocation() as memory:
        for reached in range(step, size + step, step):
            await memory.grow(min(reached, size))
            await asyncio.sleep(0)
        memory.keep()


async def at_once(budget: MemoryBudget, size: int) -> int:
    """How many pages of a size have memory at the same time now."""
    leases = [Lease(budget) for _ in range(2 * OF_SMALL)]
    tasks = [asyncio.create_task(download(lease, size)) for lease in leases]
    done, waiting = await asyncio.wait(tasks, timeout=0.2)
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    for lease in leases:
        lease.close()
    return len(done)


async def test_as_many_pages_as_fit_have_memory_at_a_time() -> None:
    budget = MemoryBudget(TOTAL, PAGE)
    assert await at_once(budget, SMALL) == OF_SMALL
    assert await at_once(budget, PAGE) == OF_LARGE
    assert OF_SMALL * SMALL + OF_LARGE * PAGE <= TOTAL


async def test_a_page_frees_its_memory_when_it_has_been_read() -> None:
    budget = MemoryBudget(TOTAL, PAGE)
    with Lease(budget) as lease:
        await download(lease, 750)
        with lease.allocation() as other:  # another attempt, which fails
            await other.grow(500)
            assert await at_once(budget, PAGE) == OF_LARGE - 2
        assert await at_once(budget, PAGE) == OF_LARGE - 1
    assert await at_once(budget, PAGE) == OF_LARGE


async def test_an_attempt_that_ends_after_its_page_was_cancelled_keeps_nothing() -> None:
    budget = MemoryBudget(TOTAL, PAGE)
    with Lease(budget) as lease:
        memory = lease.allocation()
        await memory.grow(600)
    memory.keep()
    assert await at_once(budget, PAGE) == OF_LARGE


async def test_pages_wait_and_are_served_in_turn() -> None:
    budget = MemoryBudget(TOTAL, PAGE)
    begun: list[int] = []
    leases = [Lease(budget) for _ in range(30)]

    async def fetch(number: int) -> None:
        await download(leases[number], PAGE, step=PAGE)
        begun.append(number)

    tasks = [asyncio.create_task(fetch(number)) for number in range(30)]
    for number in range(30):
        await asyncio.sleep(0.01)
        assert begun == list(range(min(30, number + OF_LARGE)))
        leases[number].close()  # it was read
    await asyncio.gather(*tasks)


@pytest.mark.parametrize("seed", range(20))
async def test_no_page_waits_forever_and_the_bound_holds(seed: int) -> None:
    chance = random.Random(seed)
    budget = MemoryBudget(TOTAL, PAGE)
    readers = asyncio.Semaphore(2)
    used = most = 0

    async def fetch_and_read(size: int, turns: int) -> None:
        nonlocal used, most
        with Lease(budget) as lease:
            await download(lease, size, step=chance.choice([50, 100, 400]))
            used += size
            most = max(most, used)
            try:
                async with readers:
                    for _ in range(turns):
                        await asyncio.sleep(0)
            finally:
                used -= size

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
    assert 0 < most <= TOTAL
    assert await at_once(budget, PAGE) == OF_LARGE


async def test_bodies_that_are_stuck_do_not_stop_the_others() -> None:
    budget = MemoryBudget(TOTAL, PAGE)
    for _ in range(OF_SMALL // 2):  # they have begun, and their servers send no more
        await Lease(budget).allocation().grow(SMALL)
    async with asyncio.timeout(5):
        for _ in range(50):
            with Lease(budget) as lease:
                await download(lease, PAGE)


async def test_a_largest_page_has_memory_whatever_the_bound_is() -> None:
    with Lease(MemoryBudget(10, PAGE)) as lease:
        await asyncio.wait_for(download(lease, PAGE), 5)


Serve = Callable[[dict[str, Any]], Coroutine[Any, Any, str]]


async def test_waiting_for_memory_is_not_silence_of_the_server(serve: Serve) -> None:
    body = b"A page of words and more words. " * 12_000  # 384 kB, of which aiohttp buffers a part

    async def answer(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="text/plain")

    base = await serve({"/": answer})
    budget = MemoryBudget(1_000_000, 500_000)  # one page of more than 50 kB
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))
    limits = FetchLimits(body_bytes=500_000, silence_seconds=0.1)
    async with web_fetcher(limits, guard, robots=False) as fetcher:
        with Lease(budget) as other, Lease(budget) as lease:
            await download(other, 400_000, step=400_000)
            page = asyncio.create_task(fetcher.fetch(PageRequest(f"{base}/", lease)))
            done, _ = await asyncio.wait([page], timeout=0.5)
            assert not done
            other.close()
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
    budget = MemoryBudget(3_000_000, 500_000)  # two pages of more than 50 kB
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
        pages = BudgetedFetch(fetcher.fetch, budget)
        requests = [PageRequest(f"{base}/{n}") for n in range(40)]
        async with aclosing(fetch_all(requests, pages, read, FetchWait(20))) as outcomes:
            got = [outcome async for outcome in outcomes]
        assert [outcome for outcome in got if isinstance(outcome, Failure)] == []
        assert most == 2
        with pytest.raises((FetchError, ExtractionError)):
            await pages(PageRequest("http://127.0.0.1:1/"))
        pages.close()
