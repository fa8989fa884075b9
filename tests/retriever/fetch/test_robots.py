"""robots.txt: what it allows, what its absence means, and that it is asked for once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from core.errors import FetchError
from retriever.fetch.download import USER_AGENT
from retriever.fetch.guard import AddressError
from retriever.fetch.http import HttpFetcher
from retriever.fetch.robots import Robots

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]

RULES = """\ufeff
User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$
Crawl-delay: 2

User-agent: hostile
Disallow: /

User-agent: github
Disallow: /
"""


def robots_txt(text: str = "", status: int = 200, content_type: str = "text/plain") -> dict[str, Handler]:
    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=text.encode(), status=status, content_type=content_type)

    return {"/robots.txt": handler}


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream"])
async def test_the_rules_for_everyone(serve: Serve, fetcher: HttpFetcher, content_type: str) -> None:
    base = await serve(robots_txt(RULES, content_type=content_type))
    robots = Robots(fetcher.get_raw, USER_AGENT)
    assert await robots.allowed(f"{base}/")
    assert not await robots.allowed(f"{base}/private/page")
    assert await robots.allowed(f"{base}/private/open")
    assert not await robots.allowed(f"{base}/papers/one.pdf")
    assert await robots.allowed(f"{base}/papers/one.pdf?page=2")
    assert await robots.delay(f"{base}/") == 2.0


async def test_the_rules_for_one_product(serve: Serve, fetcher: HttpFetcher) -> None:
    base = await serve(robots_txt("User-agent: citewell\nDisallow: /\nCrawl-delay: 7.5\n"))
    ours, other = Robots(fetcher.get_raw, USER_AGENT), Robots(fetcher.get_raw, "Other/1.0")
    assert not await ours.allowed(f"{base}/page")
    assert await ours.delay(f"{base}/page") == 7.5
    assert await other.allowed(f"{base}/page")
    assert await other.delay(f"{base}/page") == 0.0


@pytest.mark.parametrize(
    ("status", "allowed"), [(404, True), (401, True), (403, True), (410, True), (500, False)]
)
async def test_a_missing_file_allows_all_and_a_broken_server_nothing(
    serve: Serve, fetcher: HttpFetcher, status: int, allowed: bool
) -> None:
    base = await serve(robots_txt(status=status))
    assert await Robots(fetcher.get_raw, USER_AGENT).allowed(f"{base}/page") is allowed


async def test_a_host_that_cannot_be_reached_allows_nothing(fetcher: HttpFetcher) -> None:
    assert not await Robots(fetcher.get_raw, USER_AGENT).allowed("http://127.0.0.1:1/page")


async def test_a_refused_address_is_not_blamed_on_robots_txt() -> None:
    async with HttpFetcher() as fetcher:
        with pytest.raises(AddressError, match="not a public address"):
            await Robots(fetcher.get_raw, USER_AGENT).allowed("http://127.0.0.1/page")


async def test_each_host_is_asked_once_however_many_ask_at_once(serve: Serve, fetcher: HttpFetcher) -> None:
    asked: list[str] = []

    async def handler(request: web.Request) -> web.Response:
        asked.append(request.host)
        await asyncio.sleep(0.05)
        return web.Response(text="User-agent: *\nDisallow: /no\n")

    first, second = [await serve({"/robots.txt": handler}) for _ in range(2)]
    robots = Robots(fetcher.get_raw, USER_AGENT)
    urls = [f"{base}/{path}" for base in (first, second) for path in ("yes", "no", "yes?q=1")]
    assert await asyncio.gather(*map(robots.allowed, urls)) == [True, False, True] * 2
    await robots.delay(f"{first}/other")
    assert sorted(asked) == sorted(base.removeprefix("http://") for base in (first, second))


async def test_one_that_gave_up_does_not_spoil_it_for_the_others(serve: Serve, fetcher: HttpFetcher) -> None:
    async def handler(_: web.Request) -> web.Response:
        await asyncio.sleep(0.2)
        return web.Response(text="User-agent: *\nDisallow: /no\n")

    base = await serve({"/robots.txt": handler})
    robots = Robots(fetcher.get_raw, USER_AGENT)
    impatient = asyncio.create_task(robots.allowed(f"{base}/no"))
    patient = asyncio.create_task(robots.allowed(f"{base}/no"))
    await asyncio.sleep(0.05)
    impatient.cancel()
    assert await patient is False
    assert impatient.cancelled()


async def test_a_url_that_is_not_of_the_web(fetcher: HttpFetcher) -> None:
    with pytest.raises(FetchError, match="only http and https"):
        await Robots(fetcher.get_raw, USER_AGENT).allowed("file:///etc/passwd")
