"""Real servers on this machine, and a fetcher that may read from 127.0.0.1 alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_network

import pytest
from aiohttp import web

from retriever.fetch.guard import AddressGuard
from retriever.fetch.http import HttpFetcher

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


@pytest.fixture
def guard() -> AddressGuard:
    return AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))


@pytest.fixture
async def fetcher(guard: AddressGuard) -> AsyncIterator[HttpFetcher]:
    async with HttpFetcher(guard=guard) as fetcher:
        yield fetcher
