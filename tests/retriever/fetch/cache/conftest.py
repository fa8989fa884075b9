"""A server whose answers are scripted, a clock that can be set, and fetchers that share a cache on disk."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web

from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.policy import CachePolicy
from citewell.retriever.fetch.cache.store import CacheStore
from citewell.retriever.fetch.cache.transport import CachingTransport
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.transport import Transport

GUARD = AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))
MOST_BYTES = 5_000_000


@dataclass
class Clock:
    """The time, `ahead` seconds from now."""

    ahead: float = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Origin:
    """Answers /page with what is set and /there with another page, and remembers the requests for /page.

    In header values, `{-60}` stands for the date 60 s ago. A request with a condition is answered with 304
    while `holds`.
    """

    clock: Clock
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    body: str = "<p>First.</p>"
    holds: bool = False
    renewal: Mapping[str, str] = field(default_factory=dict)
    asked: list[Mapping[str, str]] = field(default_factory=list)

    async def there(self, request: web.Request) -> web.Response:
        return web.Response(text="Moved.", headers={"Cache-Control": "no-store"})

    async def page(self, request: web.Request) -> web.Response:
        self.asked.append(request.headers.copy())
        conditional = {"If-None-Match", "If-Modified-Since"} & set(request.headers)
        if self.holds and conditional:
            return web.Response(status=304, headers=self._filled(self.renewal))
        headers = {"Content-Type": "text/html"} | self._filled(self.headers)
        return web.Response(status=self.status, body=self.body, headers=headers)

    def _filled(self, headers: Mapping[str, str]) -> dict[str, str]:
        filled = {"Date": self._date("0")} | headers
        return {
            name: re.sub(r"\{(-?\d+)\}", lambda found: self._date(found[1]), value)
            for name, value in filled.items()
            if value
        }

    def _date(self, seconds: str) -> str:
        return formatdate(self.clock() + float(seconds), usegmt=True)


@dataclass(frozen=True)
class Web:
    """What a test of the cache has: a page at `url`, its server, and a way to open fetchers.

    Every fetcher has a store of its own on the cache on disk, as every process has. Once it is closed, all is
    stored.
    """

    url: str
    origin: Origin
    clock: Clock
    folder: Path

    @asynccontextmanager
    async def open(
        self,
        policy: CachePolicy | None = None,
        store: CacheStore | None = None,
        scope: str = "",
        user_agent: str = "Citewell-test",
        most_bytes: int = MOST_BYTES,
        robots: bool = False,
    ) -> AsyncIterator[HttpFetcher]:
        store = store or DiskStore(self.folder, 50_000_000, most_bytes, warn=pytest.fail)

        def cache(transport: Transport) -> CachingTransport:
            return CachingTransport(transport, store, policy or CachePolicy(), scope=scope, clock=self.clock)

        async with web_fetcher(guard=GUARD, cache=cache, user_agent=user_agent, robots=robots) as fetcher:
            yield fetcher


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Mapping[str, Handler]], Awaitable[str]]


@pytest.fixture
async def local_web(serve: Serve, tmp_path: Path) -> Web:
    clock = Clock()
    origin = Origin(clock)
    address = await serve({"/page": origin.page, "/there": origin.there})
    return Web(f"{address}/page", origin, clock, tmp_path / "cache")
