"""Requests over the network: guarded, and bounded in time and memory in every direction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from itertools import islice
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from multidict import CIMultiDict, CIMultiDictProxy

from citewell.core.errors import FetchError
from citewell.retriever.fetch.content import SNIFF_BYTES
from citewell.retriever.fetch.decompression import ACCEPT_ENCODING, PIECE_BYTES, decoder
from citewell.retriever.fetch.download import FetchLimits
from citewell.retriever.fetch.guard import AddressGuard
from citewell.retriever.fetch.proxy import Proxy, TargetCheck
from citewell.retriever.fetch.reasons import explain
from citewell.retriever.fetch.resolver import GuardedResolver, SystemResolver
from citewell.retriever.fetch.transport import Request, Response

PAGE_STATUSES = frozenset({200, 203})
"""The statuses of a page (RFC 9110 §15.3): the other successes have no content or only a part of it, and some
protections against robots answer with 202."""

_CHUNK_BYTES = 65_536
_BATCH = 2  # pieces of a body that are decompressed at a time
_BODIES = 4  # bodies that are decompressed between two turns of the event loop: a few milliseconds
# Real pages send security policies of more than aiohttp's default of 8 KB.
_HEADER_FIELD_BYTES = 32_768
_HEADER_FIELDS = 128
# Long enough for a page after its robots.txt, and less than the usual 5 s after which servers hang up.
_IDLE_SECONDS = 4.0


class HttpTransport:
    """A `Transport` over one aiohttp session; use it as an async context manager.

    Every connection passes `guard`, or goes to `proxy`. It sends no cookies and reads no .netrc and no proxy
    of the environment. `resolver` looks host names up, by default the system's.
    """

    def __init__(
        self,
        limits: FetchLimits | None = None,
        guard: AddressGuard | None = None,
        *,
        resolver: AbstractResolver | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        self._limits = limits or FetchLimits()
        self._guard = guard or AddressGuard()
        self._resolver = resolver
        self._proxy = proxy
        self._target: TargetCheck | None = None
        self._slots = asyncio.Semaphore(self._limits.connections)
        self._session: aiohttp.ClientSession | None = None
        self._decompressing = asyncio.Semaphore(_BODIES)
        self._threads = ThreadPoolExecutor(2, "decompression")

    async def __aenter__(self) -> Self:
        limits, guard, proxy = self._limits, self._guard, self._proxy
        resolver = self._resolver or SystemResolver()
        self._target = TargetCheck(guard, resolver, limits.connect_seconds) if proxy else None
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # waiting for a slot would count as time to connect
                resolver=resolver if proxy else GuardedResolver(guard, resolver),
                socket_factory=proxy.socket_factory if proxy else guard.socket_factory,
                keepalive_timeout=_IDLE_SECONDS,
            ),
            proxy=proxy.url if proxy else None,
            middlewares=(self._once,),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,  # it counts no bytes of the wire, and gives zstd 128 MiB
            # Not sock_read: it would also count the time that a body waits for memory.
            timeout=aiohttp.ClientTimeout(total=None, connect=limits.connect_seconds, sock_read=None),
            max_line_size=_HEADER_FIELD_BYTES,
            max_field_size=_HEADER_FIELD_BYTES,
            max_headers=_HEADER_FIELDS,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session:
            await self._session.close()
            self._session = None
        self._threads.shutdown(wait=False)

    async def send(self, request: Request) -> Response:
        """Send one request.

        Raises `FetchError` with the reason without a complete answer. The caller bounds the total time: here,
        every wait is bounded except for a free connection and for a slow body.
        """
        if self._session is None:
            raise RuntimeError("HttpTransport is used outside of `async with`")
        async with self._slots:
            try:
                if self._target:
                    await self._target.check(request.url)
                async with await self._answer(self._session, request) as response:
                    return await self._read(response, request)
            except aiohttp.ClientError as error:
                raise explain(error, self._limits) from error

    async def _once(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Send a request only once: aiohttp would repeat it after losing a kept connection."""
        try:
            return await handler(request)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
            raise explain(error, self._limits) from error

    async def _answer(self, session: aiohttp.ClientSession, request: Request) -> aiohttp.ClientResponse:
        headers = {**request.headers, "Accept-Encoding": ACCEPT_ENCODING}
        for_proxy = dict(self._proxy.headers) if self._proxy else None
        if for_proxy and request.url.scheme == "http":
            headers |= for_proxy  # an unencrypted request goes to the proxy itself, without a tunnel
        seconds = self._limits.header_seconds
        try:
            async with asyncio.timeout(seconds):
                return await session.get(
                    request.url, headers=headers, allow_redirects=False, proxy_headers=for_proxy
                )
        except aiohttp.ClientError:
            raise
        except TimeoutError:
            raise FetchError(f"no complete header within {seconds:g} s", kind="timeout") from None

    async def _read(self, response: aiohttp.ClientResponse, request: Request) -> Response:
        headers = _readable(response.headers)
        if response.status not in PAGE_STATUSES:
            return Response(str(request.url), response.status, headers)
        body = _Body(request, headers.get("Content-Type", ""), self._limits.body_bytes)
        body.expect(response.content_length)
        decode = decoder(", ".join(headers.getall("Content-Encoding", ())))
        with request.lease.allocation() if request.lease else nullcontext() as memory:
            if memory:
                await memory.grow(PIECE_BYTES)
            while chunk := await self._chunk(response):
                body.count(chunk)
                pieces, is_over = decode.feed(chunk), False
                while not is_over and not body.truncated:
                    batch = await self._some(pieces, in_thread=decode.is_slow)
                    is_over = len(batch) < _BATCH
                    for piece in batch:
                        body.add(piece)
                    if memory:
                        await memory.grow(body.size + PIECE_BYTES)
                if body.truncated:
                    break
            else:
                decode.finish()
            content_type = body.judged()
            whole = body.bytes()
            if memory:
                memory.keep()
        return Response(
            str(request.url), response.status, headers, whole, content_type, truncated=body.truncated
        )

    async def _chunk(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the next bytes of the wire, none at the end."""
        seconds = self._limits.silence_seconds
        try:
            async with asyncio.timeout(seconds):
                return await response.content.read(_CHUNK_BYTES)
        except TimeoutError:
            raise FetchError(f"the server sent nothing for {seconds:g} s", kind="timeout") from None

    async def _some(self, pieces: Iterator[bytes], *, in_thread: bool) -> list[bytes]:
        """Decompress a little of a body; a few bodies do so in each turn of the event loop."""
        async with self._decompressing:
            # Not always in a thread: with hundreds of bodies, the loop would wait for threads all the time.
            if in_thread:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._threads, _batch, pieces)
            batch = _batch(pieces)
            await asyncio.sleep(0)
            return batch


def _batch(pieces: Iterator[bytes]) -> list[bytes]:
    return list(islice(pieces, _BATCH))


class _Body:
    """A growing body, judged as soon as enough of it has arrived."""

    def __init__(self, request: Request, declared: str, limit: int) -> None:
        self.size = 0
        self.truncated = False
        self._request = request
        self._declared = declared
        self._limit = limit
        self._wire = 0
        self._pieces: list[bytes] = []
        self._content_type: str | None = None

    def expect(self, length: int | None) -> None:
        """Note the declared length."""
        if self._request.cut_at is None and (length or 0) > self._limit:
            raise self._too_large()

    def count(self, chunk: bytes) -> None:
        """Count bytes of the wire."""
        self._wire += len(chunk)
        if self._wire > self._limit:
            self._end()

    def add(self, piece: bytes) -> None:
        """Add decompressed bytes."""
        cut_at = self._request.cut_at
        left = (self._limit if cut_at is None else min(cut_at, self._limit)) - self.size
        self._pieces.append(piece[:left])
        self.size += min(len(piece), left)
        if len(piece) > left:
            self._end()
        elif self._content_type is None and self.size >= SNIFF_BYTES:
            self.judged()

    def judged(self) -> str:
        """Return the content type; raises `ContentTypeError`."""
        if self._content_type is None:
            self._content_type = self._request.judge(self._declared, self.bytes()[:SNIFF_BYTES])
        return self._content_type

    def bytes(self) -> bytes:
        """Return the body so far."""
        return b"".join(self._pieces)

    def _end(self) -> None:
        if self._request.cut_at is None:
            raise self._too_large()
        self.truncated = True

    def _too_large(self) -> FetchError:
        hint = "The setting fetch.max_bytes raises the limit."
        return FetchError(f"it is larger than {self._limit:,} bytes", hint, "too_large")


def _readable(headers: CIMultiDictProxy[str]) -> CIMultiDictProxy[str]:
    """Return the header with bytes that are not UTF-8 read as Latin-1.

    Aiohttp keeps them as lone surrogates.
    """
    if all(value.isascii() for value in headers.values()):
        return headers
    return CIMultiDictProxy(CIMultiDict((name, _text(value)) for name, value in headers.items()))


def _text(value: str) -> str:
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
