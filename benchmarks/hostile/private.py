"""Private addresses, as pages, redirects, name servers and proxies could smuggle them in."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path
from typing import NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from benchmarks.hostile.outcome import AttackResult
from benchmarks.hostile.spellings import SPELLINGS
from benchmarks.hostile.web import WEB, redirect_path
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import HttpFetcher, web_fetcher
from citewell.retriever.fetch.proxy import Proxy

PRIVATE_NAMES = (
    *("intranet", "wiki.corp", "db.default.svc", "db.default.svc.cluster.local", "vault.service.consul"),
    *("printer.localdomain", "router.home.arpa", "metadata.google.internal", "hidden.onion", "nas.local"),
)
"""Names that a proxy might resolve within its network."""
LIMITS = FetchLimits(connect_seconds=2, header_seconds=2, silence_seconds=2, total_seconds=3)


class Rebinding(AbstractResolver):
    """A name server that first returns the public web, and a private address from then on."""

    def __init__(self, then: str) -> None:
        self._then = then
        self._asked = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the answers in turn."""
        self._asked += 1
        address = WEB if self._asked == 1 else self._then
        found = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [
            ResolveResult(
                hostname=host, host=address, port=port, family=found, proto=0, flags=socket.AI_NUMERICHOST
            )
        ]

    async def close(self) -> None:
        """Do nothing."""


class HostileWeb(NamedTuple):
    """The ports of `benchmarks.hostile.web`."""

    port: int
    private_port: int

    @property
    def base(self) -> str:
        """The address of the web."""
        return f"http://{WEB}:{self.port}"


@contextmanager
def hostile_web(mebibytes: int) -> Iterator[HostileWeb]:
    """Run the hostile web in a separate process; its bombs expand to this many MiB."""
    command = [sys.executable, "-m", "benchmarks.hostile.web", str(mebibytes)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout
        try:
            yield HostileWeb(*map(int, process.stdout.readline().split()))
        finally:
            process.kill()


@asynccontextmanager
async def fetcher_of(web: HostileWeb, resolver: AbstractResolver | None = None) -> AsyncIterator[HttpFetcher]:
    """Open a fetcher that takes `WEB` for the public web; its guard is the usual one for other addresses."""
    guard = AddressGuard(
        allow_networks=(ip_network(f"{WEB}/32"),), allow_ports=frozenset({web.port, web.private_port})
    )
    async with web_fetcher(LIMITS, guard, robots=False, resolver=resolver) as fetcher:
        yield fetcher


async def reach(web: HostileWeb) -> dict[str, AttackResult]:
    """Try every spelling in every way; a page here would be the secret. Return how each way ends."""
    ways = {
        "address": AttackResult(),
        "address by a redirect": AttackResult(),
        "address by DNS rebinding": AttackResult(),
    }
    direct, redirected, rebound = ways.values()
    async with fetcher_of(web) as fetcher:
        for host in SPELLINGS:
            target = f"http://{host}:{web.private_port}/"
            await direct.run(host, partial(fetcher.get, target), LIMITS.total_seconds)
            start = web.base + redirect_path(target)
            await redirected.run(host, partial(fetcher.get, start), LIMITS.total_seconds)
    for host in ("127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1"):
        async with fetcher_of(web, Rebinding(host)) as fetcher:
            # Its redirect to another port makes the fetcher look the name up once more.
            there = redirect_path(f"http://kites.example:{web.private_port}/")
            start = f"http://kites.example:{web.port}{there}"
            await rebound.run(host, partial(fetcher.get, start), LIMITS.total_seconds)
    async with fetcher_of(web) as fetcher:
        told = (await fetcher.get(f"{web.base}/connections")).body.decode()
    for name, outcome in ways.items():
        if outcome.pages or told != "0 connections":
            outcome.faults.append(f"{name}: {outcome.pages} pages, {told} to the private service")
    ways["address through a proxy"] = await _through_proxy()
    return ways


async def _through_proxy() -> AttackResult:
    """Try every spelling and private name behind a proxy, which must not be asked for any."""
    outcome, asked = AttackResult(), 0

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret")
        writer.close()

    async with await asyncio.start_server(note, "127.0.0.1", 0) as server:
        proxy = Proxy.parse(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        async with web_fetcher(LIMITS, proxy=proxy, robots=False) as fetcher:
            for host in (*SPELLINGS, *PRIVATE_NAMES):
                await outcome.run(host, partial(fetcher.get, f"http://{host}/"), LIMITS.total_seconds)
    if asked or outcome.pages:
        outcome.faults.append(f"through a proxy: {outcome.pages} pages, the proxy was asked {asked} times")
    return outcome
