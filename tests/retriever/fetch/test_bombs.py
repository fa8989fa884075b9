"""Small bodies that expand to large ones: memory stays bounded, for every coding."""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import brotli
import pytest
from aiohttp import web

from citewell.retriever.fetch.decompression import zstd

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[dict[str, Handler]], Awaitable[str]]

CLIENT = """
import asyncio, resource, sys
from ipaddress import ip_network
from citewell.core.errors import FetchError
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.http import web_fetcher

async def main():
    guard = AddressGuard(allow_networks=(ip_network("127.0.0.1/32"),))
    async with web_fetcher(guard=guard, robots=False) as fetcher:
        await fetcher.get(sys.argv[1] + "/small")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for name in sys.argv[2:]:
            try:
                await fetcher.get(sys.argv[1] + name)
            except FetchError as error:
                print(error.message)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)

asyncio.run(main())
"""
MEBIBYTES = 256


def parts() -> Iterator[bytes]:
    return (b"a" * 2**20 for _ in range(MEBIBYTES))


def inflating(wbits: int) -> bytes:
    packer = zlib.compressobj(1, wbits=wbits)
    return b"".join(map(packer.compress, parts())) + packer.flush()


def brotli_bomb() -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(map(packer.process, parts())) + packer.finish()


def zstd_bomb() -> bytes:
    packer = zstd.ZstdCompressor()
    return b"".join(map(packer.compress, parts())) + packer.flush()


def nested() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(inflating(31)) + packer.flush()


def answering(body: bytes, encoding: str = "") -> Handler:
    headers = {"Content-Type": "text/plain"} | ({"Content-Encoding": encoding} if encoding else {})

    async def handler(_: web.Request) -> web.Response:
        return web.Response(body=body, headers=headers)

    return handler


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kilobytes on Linux alone")
async def test_a_bomb_does_not_fill_the_memory(serve: Serve) -> None:
    bombs = {
        "/gzip": answering(inflating(31), "gzip"),
        "/deflate": answering(inflating(15), "deflate"),
        "/raw": answering(inflating(-15), "deflate"),
        "/zstd": answering(zstd_bomb(), "zstd"),
        "/br": answering(brotli_bomb(), "br"),
    }
    twice = {"/nested": answering(nested(), "gzip, gzip")}
    base = await serve({"/small": answering(b"small"), **bombs, **twice})
    # A process of its own: the peak of this one may be high already.
    client = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CLIENT,
        base,
        *bombs,
        *twice,
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    output, _ = await client.communicate()
    *reasons, last, grown_kilobytes = output.decode().splitlines()
    assert reasons == ["it is larger than 5,000,000 bytes"] * len(bombs)
    assert "which was not asked for" in last
    assert int(grown_kilobytes) < 40_000
