"""Going through a proxy on this machine: what it is asked, and what it is never asked."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import AsyncIterator
from typing import NamedTuple

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from citewell.core.errors import FetchError, SettingsError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher
from citewell.retriever.fetch.proxy import Proxy

NAMES = {
    "public.example": ["93.184.215.14"],
    "inner.example": ["10.0.0.1"],
    "mixed.example": ["93.184.215.14", "127.0.0.1"],
}


class Names(AbstractResolver):
    """A name server that knows a few names; 127.0.0.1 is known as every machine knows it."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        if host not in NAMES:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)
            for address in NAMES[host]
        ]

    async def close(self) -> None:
        return


class Server(NamedTuple):
    address: str
    heads: list[str]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A proxy that notes the header of each request, and answers what the path says."""
    heads: list[str] = []

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        first = heads[-1].splitlines()[0]
        if first.startswith("CONNECT"):
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        elif "/moved" in first:
            location = first.split()[1].replace("/moved?to=", "").removeprefix("http://public.example")
            writer.write(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\na page")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(reply, "127.0.0.1", 0) as listening:
        yield Server(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", heads)


async def get(server: Server, url: str, credentials: str = "") -> bytes:
    proxy = Proxy.parse(f"http://{credentials}{server.address}")
    async with web_fetcher(proxy=proxy, resolver=Names(), robots=False) as fetcher:
        return (await fetcher.get(url)).body


@pytest.mark.parametrize(
    "url", ["http://public.example/page", "http://93.184.215.14:8080/", "http://elsewhere.example/"]
)
async def test_pages_come_through_the_proxy_though_its_own_address_is_private(
    server: Server, url: str
) -> None:
    assert await get(server, url, "me:p%40ss@") == b"a page"
    assert server.heads[0].startswith(f"GET {url} HTTP/1.1\r\n")
    credentials = base64.b64encode(b"me:p@ss").decode()
    assert f"Proxy-Authorization: Basic {credentials}\r\n" in server.heads[0]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://127.0.0.1/", "not a public address"),
        ("http://127.1/", "not a public address"),
        ("http://2130706433/", "not a public address"),
        ("http://0x7f.0.0.1/", "not a public address"),
        ("http://[::1]/", "not a public address"),
        ("http://[64:ff9b::7f00:1]/", "not a public address"),
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://inner.example/", "10.0.0.1 is not a public address"),
        ("http://mixed.example/", "127.0.0.1 is not a public address"),
        ("http://public.example:25/", "port 25 is not one of the allowed"),
        ("http://elsewhere.example:25/", "port 25 is not one of the allowed"),
        ("http://93.184.215.14:22/", "port 22 is not one of the allowed"),
        ("http://localhost/", "name of a private network"),
        ("http://intranet/", "name of a private network"),
        ("http://wiki.corp./", "name of a private network"),
        ("http://db.default.svc/", "name of a private network"),
        ("http://db.default.svc.cluster.local/", "name of a private network"),
        ("http://vault.service.consul/", "name of a private network"),
        ("http://printer.localdomain/", "name of a private network"),
        ("http://nas.fritz.test/", "name of a private network"),
        ("http://router.home.arpa/", "name of a private network"),
        ("http://metadata.google.internal/", "name of a private network"),
        ("http://public.example/moved?to=http://127.0.0.2/", "127.0.0.2 is not a public address"),
        ("http://public.example/moved?to=http://inner.example/", "10.0.0.1 is not a public address"),
    ],
)
async def test_what_the_guard_refuses_is_not_asked_of_the_proxy(
    server: Server, url: str, reason: str
) -> None:
    with pytest.raises(FetchError, match=reason):
        await get(server, url)
    assert len(server.heads) == ("/moved" in url)


async def test_a_proxy_that_does_not_connect(server: Server) -> None:
    with pytest.raises(FetchError, match="the proxy answered 403") as raised:
        await get(server, "https://public.example/", "me:pass@")
    assert raised.value.kind == "proxy"
    assert server.heads[0].startswith("CONNECT public.example:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic " in server.heads[0]


async def test_a_proxy_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening
        nobody = Server(f"127.0.0.1:{taken.getsockname()[1]}", [])
        with pytest.raises(FetchError, match="no connection to the proxy") as raised:
            await get(nobody, "http://public.example/", "me:secret@")
    assert raised.value.kind == "proxy"
    assert "secret" not in str(raised.value)


def test_a_socket_is_made_to_the_port_of_the_proxy_alone() -> None:
    proxy = Proxy.parse("http://me:secret@10.0.0.1:3128")
    kind = socket.SOCK_STREAM
    proxy.socket_factory((socket.AF_INET, kind, 0, "", ("10.0.0.1", 3128))).close()
    with pytest.raises(FetchError, match="is not the proxy"):
        proxy.socket_factory((socket.AF_INET, kind, 0, "", ("10.0.0.1", 80)))
    assert "secret" not in str(proxy.url)


@pytest.mark.parametrize(
    "text", ["proxy:3128", "socks5://me:secret@host:1", "http://", "http://me:secret@[::1"]
)
def test_what_is_no_proxy(text: str) -> None:
    with pytest.raises(SettingsError, match=r"fetch\.proxy") as raised:
        Proxy.parse(text)
    assert "secret" not in str(raised.value)


async def test_the_own_address_is_refused_through_a_proxy_as_well(server: Server) -> None:
    guard = AddressGuard(is_own=lambda address: str(address) == "93.184.215.14")
    proxy = Proxy.parse(f"http://{server.address}")
    async with web_fetcher(guard=guard, proxy=proxy, resolver=Names(), robots=False) as fetcher:
        with pytest.raises(FetchError, match="an address of this machine"):
            await fetcher.get("http://public.example/")
    assert server.heads == []
