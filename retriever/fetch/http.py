"""Fetching pages over HTTP: redirects, status codes and robots.txt, over a transport of single requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import replace

from aiohttp.abc import AbstractResolver

from citewell.core.errors import FetchError
from citewell.core.identity import USER_AGENT
from citewell.retriever.fetch.content import page_type
from citewell.retriever.fetch.download import Download, FetchLimits, HttpStatusError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.network import PAGE_STATUSES, HttpTransport
from citewell.retriever.fetch.notices import warnings_to
from citewell.retriever.fetch.page_request import PageRequest
from citewell.retriever.fetch.politeness import Hosts, PoliteTransport
from citewell.retriever.fetch.proxy import Proxy
from citewell.retriever.fetch.robots import ROBOTS_BYTES, Robots
from citewell.retriever.fetch.transport import Judge, Request, Response, Transport
from citewell.retriever.fetch.urls import WebUrl, web_url

_ACCEPT = (
    "text/html,application/xhtml+xml,application/pdf;q=0.9,text/markdown;q=0.8,text/plain;q=0.8,"
    "application/json;q=0.5,*/*;q=0.1"
)
# As in Nutch, which leaves pages out above its fetcher.max.crawl.delay of 30 s.
_LONGEST_DELAY = 30.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class HttpFetcher:
    """A fetcher of pages over a transport, which guards and bounds every request.

    `hosts` is the transport's record of its hosts. With `robots`, no URL is requested, neither the first nor
    one that a redirect leads to, before the robots.txt of its site allows it.
    """

    def __init__(
        self,
        transport: Transport,
        hosts: Hosts,
        limits: FetchLimits | None = None,
        *,
        user_agent: str = USER_AGENT,
        robots: bool = True,
    ) -> None:
        self._transport = transport
        self.hosts = hosts
        self._limits = limits or FetchLimits()
        self._headers = {"User-Agent": user_agent, "Accept": _ACCEPT}
        self._robots = Robots(self._get_robots, user_agent, self._limits.robots_seconds) if robots else None

    async def fetch(self, request: PageRequest) -> Download:
        """Fetch a page of text or a PDF; speaks `PageFetch`.

        Raises `FetchError` with the reason in plain words: `HttpStatusError` when the server answers with
        anything but a page, `ContentTypeError` when it is not a page of text, `RobotsError` when robots.txt
        forbids it.
        """

        def judge(declared: str, head: bytes) -> str:
            if request.on_body:
                request.on_body()
            return page_type(declared, head)

        with warnings_to(request.warn):
            return await self._within_time(request, judge, self._robots)

    async def get(self, url: str) -> Download:
        """Fetch the page at `url`, as `fetch` does."""
        return await self.fetch(PageRequest(url))

    async def get_part(self, url: str, *, cut_at: int | None = None, stays: bool = False) -> Download:
        """Fetch a resource of a page, such as a script, of any content type, or its first `cut_at` bytes.

        Raises `FetchError` as `fetch` does; with `stays`, also for a redirect to another host. It does not
        count as a page of its host.
        """
        request = PageRequest(url)
        return await self._within_time(
            request, _as_declared, self._robots, cut_at=cut_at, is_page=False, stays=stays
        )

    async def wait(self, url: str) -> None:
        """Wait until the site of `url` allows another page to be requested, for at most a minute.

        Raises the `FetchError` that `fetch` would raise before it requests the page itself, and one of the
        kind `robots` if the site wants more than 30 seconds between two pages.
        """
        target = web_url(url)
        spacing = await self._robots.check(target) if self._robots else 0.0
        seconds = self.hosts.wait(target, spacing)
        if seconds and spacing > _LONGEST_DELAY:
            raise FetchError(
                f"its robots.txt wants {spacing:,.15g} s between two pages, and a crawl waits for at most "
                f"{_LONGEST_DELAY:g} s",
                kind="robots",
            )
        await asyncio.sleep(seconds)

    async def _get_robots(self, url: str) -> Download:
        request = PageRequest(url)
        return await self._within_time(request, _as_declared, None, cut_at=ROBOTS_BYTES, is_page=False)

    async def _within_time(
        self,
        page: PageRequest,
        judge: Judge,
        robots: Robots | None,
        *,
        cut_at: int | None = None,
        is_page: bool = True,
        stays: bool = False,
    ) -> Download:
        seconds = self._limits.total_seconds
        try:
            async with asyncio.timeout(seconds):
                first = Request(
                    web_url(page.url),
                    self._headers,
                    judge,
                    cut_at=cut_at,
                    is_hedge=page.is_hedge,
                    lease=page.lease,
                )
                response = await self._follow(first, robots, is_page=is_page, stays=stays)
        except TimeoutError:
            raise FetchError(f"no complete answer within {seconds:g} s", kind="timeout") from None
        if response.status not in PAGE_STATUSES:
            raise HttpStatusError(response.status)
        return Download(
            response.url,
            response.content_type,
            response.body,
            response.status,
            page.url,
            response.source,
            response.received_at,
            tuple(response.headers.getall("X-Robots-Tag", ())),
        )

    async def _follow(
        self, request: Request, robots: Robots | None, *, is_page: bool, stays: bool
    ) -> Response:
        hosts: set[str | None] = set()
        for _ in range(self._limits.redirects + 1):
            spacing = await robots.check(request.url) if robots else 0.0
            is_turn = is_page and request.url.raw_host not in hosts
            hosts.add(request.url.raw_host)
            response = await self._transport.send(replace(request, spacing=spacing if is_turn else None))
            if response.status not in _REDIRECTS:
                return response
            request = replace(request, url=_redirect(response))
            if stays and request.url.raw_host not in hosts:
                raise FetchError(f"it redirects to another host, {request.url.host}", kind="redirect")
        raise FetchError(f"it redirects more than {self._limits.redirects} times", kind="redirect")


@asynccontextmanager
async def web_fetcher(
    limits: FetchLimits | None = None,
    guard: AddressGuard | None = None,
    *,
    user_agent: str = USER_AGENT,
    resolver: AbstractResolver | None = None,
    proxy: Proxy | None = None,
    hosts: Hosts | None = None,
    robots: bool = True,
    cache: Callable[[Transport], AbstractAsyncContextManager[Transport]] = nullcontext,
) -> AsyncGenerator[HttpFetcher, None]:
    """Open a fetcher over the network and close its connections at the end.

    `cache` may wrap the transport in a cache, which is closed before the network.
    """
    hosts = Hosts() if hosts is None else hosts
    async with (
        HttpTransport(limits, guard, resolver=resolver, proxy=proxy) as network,
        cache(PoliteTransport(network, hosts)) as transport,
    ):
        yield HttpFetcher(transport, hosts, limits, user_agent=user_agent, robots=robots)


def _as_declared(declared: str, head: bytes) -> str:
    return declared


def _redirect(response: Response) -> WebUrl:
    location = response.headers.get("Location")
    if not location:
        reason = f"the server answered {response.status} without saying where to go"
        raise FetchError(reason, kind="redirect")
    return web_url(location, base=web_url(response.url))
