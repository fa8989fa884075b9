"""Real servers on this machine, and a fetcher that may read from 127.0.0.1 alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_network

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from retriever.fetch.guard import AddressGuard
from retriever.fetch.http import HttpFetcher

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Start a server with a handler for each path; return its address, without a last slash."""
    servers: list[TestServer] = []

    async def start(handlers: dict[str, Handler]) -> str:
        app = web.Application()
        for path, handler in handlers.items():
            app.router.add_get(path, handler)
        server = TestServer(app, host="127.0.0.1")
        await server.start_server()
        servers.append(server)
        return f"http://127.0.0.1:{server.port}"

    yield start
    for server in servers:
        await server.close()


@pytest.fixture
def guard() -> AddressGuard:
    return AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))


@pytest.fixture
async def fetcher(guard: AddressGuard) -> AsyncIterator[HttpFetcher]:
    async with HttpFetcher(guard=guard) as fetcher:
        yield fetcher
