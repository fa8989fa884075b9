"""No spelling of an address, no redirect and no DNS answer leads to an address that is refused."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from ipaddress import ip_network
from typing import NamedTuple

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from benchmarks.hostile.spellings import SPELLINGS
from citewell.core.errors import FetchError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.urls import web_url

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]


class Listener(NamedTuple):
    port: int
    connections: list[str]


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    """A server on every address of this machine that notes who connects."""
    connections: list[str] = []

    async def note(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(str(writer.get_extra_info("sockname")))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(note, host=None, port=0, family=socket.AF_INET)
    port = server.sockets[0].getsockname()[1]
    server6 = await asyncio.start_server(note, host="::1", port=port) if socket.has_ipv6 else None
    yield Listener(port, connections)
    server.close()
    if server6:
        server6.close()


@pytest.mark.parametrize("host", [*SPELLINGS, "127.0.0.2", "0x7f.0x1.", "[fe80::1%25eth0]"])
async def test_no_spelling_of_a_private_address_is_connected_to(host: str, listener: Listener) -> None:
    guard = AddressGuard(allow_ports=frozenset({listener.port}))
    async with web_fetcher(guard=guard, robots=False) as fetcher:
        with pytest.raises(FetchError) as raised:
            await fetcher.get(f"http://{host}:{listener.port}/")
    assert listener.connections == []
    reasons = ("is not a public address", "is an address with a zone", "no host is named")
    assert any(reason in raised.value.message for reason in reasons)


async def test_the_listener_can_be_reached_when_its_network_is_open(listener: Listener) -> None:
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.0/8"),))
    async with web_fetcher(guard=guard, robots=False) as fetcher:
        assert (await fetcher.get(f"http://0x7f.1:{listener.port}/")).body == b"secret"


@pytest.mark.parametrize("host", ["127.0.0.2", "127.0.1.1", "[::1]", "0x7f.2", "169.254.169.254"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_a_refused_address_is_not_followed(
    serve: Serve, fetcher: HttpFetcher, listener: Listener, host: str, status: int
) -> None:
    async def redirect(_: web.Request) -> web.Response:
        location = f"http://{host}:{listener.port}/"
        return web.Response(status=status, headers={"Location": location})

    base = await serve({"/": redirect})
    with pytest.raises(FetchError, match="not a public address"):
        await fetcher.get(f"{base}/")
    assert listener.connections == []


async def test_the_second_hop_is_checked_as_the_first(
    serve: Serve, fetcher: HttpFetcher, listener: Listener
) -> None:
    async def hop(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/inner"})

    async def inner(_: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"//127.0.0.2:{listener.port}/"})

    base = await serve({"/": hop, "/inner": inner})
    with pytest.raises(FetchError, match=r"127\.0\.0\.2 is not a public address"):
        await fetcher.get(f"{base}/")
    assert listener.connections == []


class TurningResolver(AbstractResolver):
    """Answers with one address list after the other, the last one for ever: DNS rebinding."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        addresses = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=0,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        return


async def test_rebinding_is_refused(guard: AddressGuard, listener: Listener) -> None:
    resolver = TurningResolver(["127.0.0.1"], ["127.0.0.2"])
    url = f"http://rebind.test:{listener.port}/"
    async with web_fetcher(guard=guard, resolver=resolver, robots=False) as fetcher:
        assert (await fetcher.get(url)).body == b"secret"
    connections = len(listener.connections)
    async with web_fetcher(guard=guard, resolver=resolver, robots=False) as fetcher:
        with pytest.raises(FetchError, match=r"127\.0\.0\.2 is not a public address"):
            await fetcher.get(url)
    assert len(listener.connections) == connections


async def test_only_the_allowed_addresses_of_a_host_are_tried(
    guard: AddressGuard, listener: Listener
) -> None:
    resolver = TurningResolver(["127.0.0.2", "127.0.0.1", "127.0.0.3"])
    async with web_fetcher(guard=guard, resolver=resolver, robots=False) as fetcher:
        assert (await fetcher.get(f"http://mixed.test:{listener.port}/")).body == b"secret"
    assert len(listener.connections) == 1
    assert "127.0.0.1" in listener.connections[0]


async def test_the_reason_survives_when_all_addresses_of_a_host_are_refused(
    guard: AddressGuard,
) -> None:
    resolver = TurningResolver(["10.0.0.1", "fd00::1"])
    async with web_fetcher(guard=guard, resolver=resolver, robots=False) as fetcher:
        with pytest.raises(FetchError, match="is not a public address"):
            await fetcher.get("http://inner.test/")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://example.org/", "only http and https"),
        ("data:text/plain,hello", "only http and https"),
        ("javascript:alert(1)", "only http and https"),
        ("example.org/page", "only http and https"),
        ("", "only http and https"),
        ("http://", "names no host"),
        ("http:///path", "names no host"),
        ("http://example.org:99999/", "not a valid URL"),
        ("http://[::1/", "not a valid URL"),
        ("http://user:password@example.org/", "user name or a password"),
        ("https://user@example.org/", "user name or a password"),
        ("https://:password@example.org/", "user name or a password"),
    ],
)
async def test_urls_that_are_not_pages_of_the_web(fetcher: HttpFetcher, url: str, reason: str) -> None:
    with pytest.raises(FetchError, match=reason) as raised:
        await fetcher.get(url)
    assert "password@" not in str(raised.value)


def test_a_redirect_never_leaves_https() -> None:
    base = URL("https://example.org/a")
    with pytest.raises(FetchError, match="from https to http"):
        web_url("http://example.org/b", base=base)
    assert str(web_url("/b#part", base=base)) == "https://example.org/b"


async def test_a_redirect_with_credentials_is_not_followed(serve: Serve, fetcher: HttpFetcher) -> None:
    async def redirect(request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": f"http://user:key@{request.host}/"})

    base = await serve({"/": redirect})
    with pytest.raises(FetchError, match="user name or a password"):
        await fetcher.get(f"{base}/")
