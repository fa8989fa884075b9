"""Local servers that speak the wire formats of search services."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from citewell.retriever.search.api import SearchHttp
from citewell.retriever.search.retry import Retry
from tests.retriever.search.services import Answer, Api, Asked, Reply, Serving


@pytest.fixture
async def service() -> AsyncIterator[Serving]:
    """Start a service that gives its replies in turn, the last one again and again; or calls a function."""
    servers: list[TestServer] = []

    async def start(*replies: Reply | Answer, path: str = "/search") -> Api:
        api = Api("")

        async def handle(request: web.Request) -> web.StreamResponse:
            body = await request.json() if request.method == "POST" else None
            headers = dict(request.headers)
            asked = Asked(request.method, request.path, dict(request.query), headers, body)
            reply = replies[min(len(api.asked), len(replies) - 1)]
            api.asked.append(asked)
            return reply.response() if isinstance(reply, Reply) else await reply(asked)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handle)
        server = TestServer(app, host="127.0.0.1")
        await server.start_server()
        servers.append(server)
        api.url = f"http://127.0.0.1:{server.port}{path}"
        return api

    yield start
    for server in servers:
        await server.close()


@pytest.fixture
async def http() -> AsyncIterator[SearchHttp]:
    """Connections that send a request once."""
    async with SearchHttp(Retry(seconds=5.0, tries=1)) as http:
        yield http
