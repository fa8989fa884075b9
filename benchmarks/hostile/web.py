"""A hostile web on this machine: `python -m benchmarks.hostile.web MEBIBYTES` prints its ports.

The first port is that of the web, on 127.0.0.2, where each path of `attacks` has its own behavior. The second
is that of a private service: it listens on all other addresses of this machine too, and counts connections;
the path `/connections` of the first returns the count.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

WEB = "127.0.0.2"
"""The one address that counts as the public web; all others of this machine are private."""

Write = Callable[[bytes], Awaitable[None]]
Attack = Callable[[Write], Awaitable[None]]

BOMBS = frozenset({"/gzip", "/deflate", "/br", "/zstd"})
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
PAGE = b"<!doctype html><html><body><p>%s</p></body></html>" % (b"Here is something to read. " * 20)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20
_HTML = b"Content-Type: text/html\r\n"
_MEBIBYTE = b"<p>a</p>" * 2**17


def attacks(mebibytes: int) -> dict[str, Attack]:
    """Return the behavior of the web by path; bombs expand to this many MiB."""
    return {
        "/gzip": _bomb(b"gzip", mebibytes),
        "/deflate": _bomb(b"deflate", mebibytes),
        "/br": _bomb(b"br", mebibytes),
        "/zstd": _bomb(b"zstd", mebibytes),
        "/gzip-in-gzip": _sends(HEAD + _HTML + b"Content-Encoding: gzip, gzip\r\n\r\n" + b"x" * 1000),
        "/slow-header": _drips(HEAD, b"X: y\r\n"),
        "/slow-body": _drips(HEAD + _HTML + b"\r\n", b"<p>"),
        "/silent": _drips(b"", b""),
        "/endless-header": _pours(HEAD, b"X-Much: " + b"y" * 8000 + b"\r\n"),
        "/endless-body": _pours(HEAD + _HTML + b"\r\n", _MEBIBYTE),
        "/endless-chunks": _pours(HEAD + _HTML + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 1000),
        "/shorter-than-it-says": _sends(HEAD + _HTML + b"Content-Length: 100000\r\n\r\n" + PAGE),
        "/longer-than-it-says": _sends(HEAD + _HTML + b"Content-Length: 300\r\n\r\n" + PAGE),
        "/terabytes-it-says": _sends(HEAD + _HTML + b"Content-Length: 1000000000000\r\n\r\n" + PAGE),
        "/negative-length": _sends(HEAD + _HTML + b"Content-Length: -1\r\n\r\n" + PAGE),
        "/image-called-html": _sends(HEAD + _HTML + b"\r\n" + PNG),
        "/html-called-image": _sends(HEAD + b"Content-Type: image/png\r\n\r\n" + PAGE),
        "/html-called-pdf": _sends(HEAD + b"Content-Type: application/pdf\r\n\r\n" + PAGE),
        "/html-of-no-type": _sends(HEAD + b"\r\n" + PAGE),
        "/gzip-that-is-none": _sends(HEAD + _HTML + b"Content-Encoding: gzip\r\n\r\n" + PAGE),
        "/no-http": _sends(b"\x15\x03\x01\x00\x02\x02\x28" * 100),
        "/error-page": _sends(b"HTTP/1.1 500 Oops\r\n" + _HTML + b"\r\n" + PAGE),
        "/redirect-to-itself": _redirects("/redirect-to-itself"),
        "/redirect-to-file": _redirects("file:///etc/passwd"),
        "/redirect-to-javascript": _redirects("javascript:alert(1)"),
    }


def redirect_path(target: str) -> str:
    """Return the path of the web that redirects to exactly this `target`."""
    return f"/to/{target.encode().hex()}"


def packed(coding: bytes, mebibytes: int) -> Iterator[bytes]:
    """Yield a page of this many MiB in a content coding, piece by piece."""
    pieces = itertools.repeat(_MEBIBYTE, mebibytes)
    if coding == b"br":
        brotli_packer = brotli.Compressor(quality=1)
        yield from map(brotli_packer.process, pieces)
        yield brotli_packer.finish()
    elif coding == b"zstd":
        zstd_packer = zstd.ZstdCompressor()
        yield from map(zstd_packer.compress, pieces)
        yield zstd_packer.flush()
    else:
        packer = zlib.compressobj(1, wbits=31 if coding == b"gzip" else 15)
        yield from map(packer.compress, pieces)
        yield packer.flush()


def _bomb(coding: bytes, mebibytes: int) -> Attack:
    async def attack(write: Write) -> None:
        await write(HEAD + _HTML + b"Content-Encoding: " + coding + b"\r\n\r\n")
        for piece in packed(coding, mebibytes):
            await write(piece)

    return attack


def _sends(answer: bytes) -> Attack:
    async def attack(write: Write) -> None:
        await write(answer)

    return attack


def _drips(head: bytes, drop: bytes) -> Attack:
    async def attack(write: Write) -> None:
        await write(head)
        while True:
            await asyncio.sleep(0.2)
            await write(drop)

    return attack


def _pours(head: bytes, piece: bytes) -> Attack:
    async def attack(write: Write) -> None:
        await write(head)
        while True:
            await write(piece)

    return attack


def _redirects(target: str) -> Attack:
    return _sends(b"HTTP/1.1 302 Found\r\nConnection: close\r\nLocation: %s\r\n\r\n" % target.encode())


async def _serve(mebibytes: int) -> None:
    connections: list[str] = []

    async def secret(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(str(writer.get_extra_info("sockname")))
        writer.write(HEAD + b"Content-Type: text/plain\r\nContent-Length: 6\r\n\r\nsecret")
        writer.close()

    ways = attacks(mebibytes)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        try:
            header = await reader.readuntil(b"\r\n\r\n")
            path = header.split(b" ", 2)[1].decode()
            if path == "/connections":
                await write(HEAD + b"Content-Type: text/plain\r\n\r\n%d connections" % len(connections))
            elif path.startswith("/to/"):
                await _redirects(bytes.fromhex(path.removeprefix("/to/")).decode())(write)
            else:
                await ways[path](write)
        except (ConnectionError, asyncio.IncompleteReadError, KeyError):
            pass  # the client has had enough
        finally:
            writer.close()

    web = await asyncio.start_server(answer, WEB, 0)
    port = web.sockets[0].getsockname()[1]
    private = await asyncio.start_server(secret, "0.0.0.0")
    private_port = private.sockets[0].getsockname()[1]
    with suppress(OSError):  # not every machine has IPv6
        await asyncio.start_server(secret, "::1", private_port)
    print(port, private_port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(0))
    asyncio.run(_serve(int(sys.argv[1])))
