"""Real servers on this machine, and a fetcher that may read from 127.0.0.1 alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from ipaddress import ip_network

import pytest
from aiohttp import web

from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]
Raw = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ServeRaw = Callable[[Raw], Awaitable[str]]


@pytest.fixture
def guard() -> AddressGuard:
    return AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))


@pytest.fixture
async def fetcher(guard: AddressGuard) -> AsyncIterator[HttpFetcher]:
    """It reads without asking robots.txt: what that does has tests of its own."""
    async with web_fetcher(guard=guard, robots=False) as fetcher:
        yield fetcher


@pytest.fixture
async def serve_raw() -> AsyncIterator[ServeRaw]:
    """Start a server that sends what a function writes, HTTP or not, after the header of a request."""
    async with AsyncExitStack() as stack:

        async def start(answer: Raw) -> str:
            async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                try:
                    await reader.readuntil(b"\r\n\r\n")
                    await answer(reader, writer)
                    await writer.drain()
                except (ConnectionError, asyncio.IncompleteReadError):
                    pass  # the client has had enough
                finally:
                    writer.close()

            server = await stack.enter_async_context(await asyncio.start_server(reply, "127.0.0.1", 0))
            return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

        yield start
