"""robots.txt: what it allows, what its absence means, and when it is asked for."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from aiohttp import web

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressError, AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.robots import ROBOTS_BYTES, Robots, RobotsError
from citewell.retriever.fetch.urls import web_url

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]

RULES = """\ufeff
User-agent: *
Disallow: /private/
Allow: /private/open
Disallow: /*.pdf$

User-agent: hostile
Disallow: /

User-agent: github
Disallow: /
"""


class Site:
    """A site with a robots.txt and a page under every other path, and what was asked of it."""

    def __init__(self, rules: str = "", status: int = 200, content_type: str = "text/plain") -> None:
        self.rules = rules
        self.status = status
        self.content_type = content_type
        self.asked: Counter[str] = Counter()

    async def robots(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        return web.Response(body=self.rules.encode(), status=self.status, content_type=self.content_type)

    async def page(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        if target := request.query.get("to"):
            raise web.HTTPFound(target)
        return web.Response(text="a page")

    def handlers(self) -> dict[str, Handler]:
        return {"/robots.txt": self.robots, "/{path:.*}": self.page}


@pytest.fixture
async def polite(guard: AddressGuard) -> AsyncIterator[HttpFetcher]:
    async with web_fetcher(FetchLimits(robots_seconds=0.3), guard) as fetcher:
        yield fetcher


@pytest.mark.parametrize("content_type", ["text/plain", "application/octet-stream", "image/png"])
async def test_the_rules_for_everyone(serve: Serve, polite: HttpFetcher, content_type: str) -> None:
    site = Site(RULES, content_type=content_type)
    base = await serve(site.handlers())
    for path in ("/", "/private/open", "/papers/one.pdf?page=2"):
        assert (await polite.get(base + path)).body == b"a page"
    for path in ("/private/page", "/papers/one.pdf"):
        with pytest.raises(RobotsError, match="does not allow it") as raised:
            await polite.get(base + path)
        assert raised.value.kind == "robots"
    assert site.asked == {"/robots.txt": 1, "/": 1, "/private/open": 1, "/papers/one.pdf": 1}


async def test_the_rules_for_one_product(serve: Serve, guard: AddressGuard) -> None:
    base = await serve(Site("User-agent: citewell\nDisallow: /\n").handlers())
    async with web_fetcher(guard=guard) as ours, web_fetcher(guard=guard, user_agent="Other/1.0") as other:
        with pytest.raises(RobotsError):
            await ours.get(f"{base}/page")
        assert (await other.get(f"{base}/page")).body == b"a page"


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("Citewell/0.1", False), ("citewell/0.1 (+https://citewell.example)", False), ("Cite", True)],
)
async def test_a_product_is_named_by_its_token(
    serve: Serve, polite: HttpFetcher, name: str, allowed: bool
) -> None:
    base = await serve(Site(f"User-agent: {name}\nDisallow: /\n").handlers())
    if allowed:
        assert (await polite.get(f"{base}/page")).body == b"a page"
    else:
        with pytest.raises(RobotsError):
            await polite.get(f"{base}/page")


async def test_who_says_so_reads_without_asking(serve: Serve, fetcher: HttpFetcher) -> None:
    site = Site("User-agent: *\nDisallow: /\n")
    base = await serve(site.handlers())
    assert (await fetcher.get(f"{base}/page")).body == b"a page"
    assert site.asked == {"/page": 1}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
async def test_a_missing_file_allows_everything(serve: Serve, polite: HttpFetcher, status: int) -> None:
    base = await serve(Site("User-agent: *\nDisallow: /\n", status).handlers())
    assert (await polite.get(f"{base}/page")).body == b"a page"


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_broken_server_allows_nothing(serve: Serve, polite: HttpFetcher, status: int) -> None:
    site = Site(status=status)
    base = await serve(site.handlers())
    for _ in range(2):
        with pytest.raises(RobotsError, match=f"its robots.txt cannot be read: the server answered {status}"):
            await polite.get(f"{base}/page")
    assert site.asked == {"/robots.txt": 1}


async def test_a_slow_file_allows_nothing_and_says_so_soon(serve: Serve, polite: HttpFetcher) -> None:
    async def slow(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return web.Response()

    base = await serve({"/robots.txt": slow, "/page": Site().page})
    with pytest.raises(RobotsError, match=r"did not arrive within 0\.3 s"):
        await polite.get(f"{base}/page")


async def test_redirects_of_the_file_are_followed_and_too_many_allow_everything(
    serve: Serve, polite: HttpFetcher
) -> None:
    async def moved(_: web.Request) -> web.Response:
        raise web.HTTPMovedPermanently("/rules")

    async def loop(_: web.Request) -> web.Response:
        raise web.HTTPFound("/robots.txt")

    site = Site("User-agent: *\nDisallow: /no\n")
    base = await serve({"/robots.txt": moved, "/rules": site.robots, "/{path}": site.page})
    with pytest.raises(RobotsError):
        await polite.get(f"{base}/no")
    base = await serve({"/robots.txt": loop, "/{path}": site.page})
    assert (await polite.get(f"{base}/no")).body == b"a page"


async def test_a_redirect_is_not_followed_to_where_robots_txt_forbids(
    serve: Serve, polite: HttpFetcher
) -> None:
    other = Site("User-agent: *\nDisallow: /no\n")
    there = await serve(other.handlers())
    here = await serve(Site("User-agent: *\nDisallow: /private\n").handlers())
    for target in (f"{there}/no", f"{there}/yes?to=/no", f"{here}/private"):
        with pytest.raises(RobotsError):
            await polite.get(f"{here}/moved?to={target}")
    assert other.asked == {"/robots.txt": 1, "/yes": 1}


async def test_a_host_that_cannot_be_reached_is_not_blamed_on_robots_txt(polite: HttpFetcher) -> None:
    with pytest.raises(FetchError, match="refused the connection on port 1") as raised:
        await polite.get("http://127.0.0.1:1/page")
    assert raised.value.kind == "connect"
    with pytest.raises(AddressError, match="not a public address"):
        await polite.get("http://10.0.0.1/page")


async def test_a_very_long_file_is_cut(serve: Serve, polite: HttpFetcher) -> None:
    filler = "# nothing of interest\n" * (ROBOTS_BYTES // 22 - 10)
    rules = f"User-agent: *\nDisallow: /first\n{filler}\nDisallow: /last\n{filler * 20}\nDisallow: /beyond\n"
    base = await serve(Site(rules).handlers())
    assert len(rules) > 5_000_000
    assert (await polite.get(f"{base}/beyond")).body == b"a page"
    for path in ("/first", "/last"):
        with pytest.raises(RobotsError):
            await polite.get(base + path)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/for-all", True), ("/for-us", False), ("/for-shorter", True), ("/for-others", True)],
)
async def test_groups_of_several_programs(
    serve: Serve, guard: AddressGuard, path: str, allowed: bool
) -> None:
    rules = """
        User-agent: *
        Disallow: /for-all
        User-agent: Other  # not us
        USER-AGENT: citeWell
        user agent Another
        Disallow: /for-us
        User-agent:
        User-agent: Third
        Disallow: /for-others
        useragent : cite*
        Disallow: /for-shorter
    """
    base = await serve(Site(rules).handlers())
    async with web_fetcher(guard=guard, user_agent="Citewell/9 (+https://other.example)") as fetcher:
        if allowed:
            assert (await fetcher.get(base + path)).body == b"a page"
        else:
            with pytest.raises(RobotsError):
                await fetcher.get(base + path)


@pytest.mark.alone
async def test_many_wildcards_take_no_time(serve: Serve, polite: HttpFetcher) -> None:
    base = await serve(Site(f"User-agent: *\nDisallow: /{'*a' * 30}*b$\n").handlers())
    assert (await asyncio.wait_for(polite.get(f"{base}/{'a' * 200}"), 2)).body == b"a page"


async def test_rules_for_thousands_of_programs_take_little_memory(serve: Serve, polite: HttpFetcher) -> None:
    names = "".join(f"User-agent: {'c*' * (n % 200)}program-{n}\n" for n in range(1_500))
    rules = names + "User-agent: *\n" + "".join(f"Disallow: /{n}\n" for n in range(10_000))
    base = await serve(Site(rules).handlers())
    tracemalloc.start()
    try:
        with pytest.raises(RobotsError):
            await polite.get(f"{base}/9999")
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


async def test_each_site_is_asked_once_however_many_ask_at_once(serve: Serve, polite: HttpFetcher) -> None:
    sites = [Site("User-agent: *\nDisallow: /no\n") for _ in range(2)]
    bases = [await serve(site.handlers()) for site in sites]
    urls = [f"{base}/{path}" for base in bases for path in ("yes", "no", "yes?q=1")]
    outcomes = await asyncio.gather(*map(polite.get, urls), return_exceptions=True)
    assert [isinstance(outcome, RobotsError) for outcome in outcomes] == [False, True, False] * 2
    assert [site.asked["/robots.txt"] for site in sites] == [1, 1]


async def test_one_that_gave_up_does_not_spoil_it_for_the_others(serve: Serve, guard: AddressGuard) -> None:
    asked = asyncio.Event()
    answer = asyncio.Event()
    site = Site("User-agent: *\nDisallow: /no\n")

    async def robots(request: web.Request) -> web.StreamResponse:
        asked.set()
        await answer.wait()
        return await site.robots(request)

    base = await serve({"/robots.txt": robots, "/{path}": site.page})
    async with web_fetcher(guard=guard) as fetcher:
        impatient = asyncio.create_task(fetcher.get(f"{base}/yes"))
        patient = asyncio.create_task(fetcher.get(f"{base}/yes"))
        await asked.wait()
        impatient.cancel()
        answer.set()
        assert (await patient).body == b"a page"
        assert impatient.cancelled()


async def test_crawl_delay_is_kept_where_there_is_time_and_else_told(
    serve: Serve, guard: AddressGuard
) -> None:
    site = Site("User-agent: *\nCrawl-delay: 300\n")
    base = await serve(site.handlers())
    async with web_fetcher(guard=guard) as fetcher:
        assert (await fetcher.get(f"{base}/moved?to=/first")).body == b"a page"
        with pytest.raises(FetchError, match="wants 300 s between two requests") as raised:
            await fetcher.get(f"{base}/second")
        assert raised.value.kind == "robots"
    assert "/second" not in site.asked


async def test_rules_are_asked_for_again_after_an_hour_and_a_failure_after_a_minute(
    serve: Serve, fetcher: HttpFetcher
) -> None:
    now = 0.0
    site = Site("User-agent: *\nDisallow: /\n")
    base = await serve(site.handlers())
    robots = Robots(fetcher.get_part, "Citewell/1", seconds=5, clock=lambda: now)
    url = web_url(f"{base}/page")
    with pytest.raises(RobotsError):
        await robots.check(url)
    site.rules = "User-agent: *\nCrawl-delay: 2.5\n"
    now = 3599
    with pytest.raises(RobotsError):
        await robots.check(url)
    now = 3600
    assert await robots.check(url) == 2.5
    site.status = 500
    now = 7200
    with pytest.raises(RobotsError, match="500"):
        await robots.check(url)
    site.status = 200
    now = 7260
    assert await robots.check(url) == 2.5


async def test_a_url_that_is_not_of_the_web(polite: HttpFetcher) -> None:
    with pytest.raises(FetchError, match="only http and https"):
        await polite.get("file:///etc/passwd")
