"""Fetching one page over HTTP: guarded, bounded in time and memory, each redirect checked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from core.errors import FetchError
from retriever.fetch.content import SNIFF_BYTES, page_type
from retriever.fetch.download import USER_AGENT, Download, FetchLimits, HttpStatusError
from retriever.fetch.guard import AddressGuard
from retriever.fetch.reasons import explain
from retriever.fetch.resolver import GuardedResolver

_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,text/plain;q=0.8,text/markdown;q=0.8"
_ENCODINGS = frozenset({"", "identity", "gzip", "deflate"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK_BYTES = 65_536
_HEADER_BYTES = 65_536


def web_url(url: str, base: URL | None = None) -> URL:
    """Parse the URL of a page; `base` is the URL that redirects to it.

    Raises `FetchError` unless it is http or https with a host and without credentials, and when
    a redirect would leave https.
    """
    try:
        parsed = base.join(URL(url)) if base else URL(url)
    except ValueError as error:
        raise FetchError(f"{url!r} is not a valid URL: {error}") from None
    if parsed.scheme not in {"http", "https"}:
        raise FetchError(f"only http and https URLs are read, not {parsed.scheme or url!r}")
    if not parsed.raw_host:
        raise FetchError(f"{url!r} names no host")
    if parsed.raw_user is not None or parsed.raw_password is not None:
        raise FetchError("URLs with a user name or a password in them are not read")
    if base and base.scheme == "https" and parsed.scheme == "http":
        raise FetchError(f"it redirects from https to http, to {parsed.host}")
    return parsed.with_fragment(None)


class HttpFetcher:
    """Reads pages over one aiohttp session; use it as an async context manager.

    It sends no cookies, reads no proxy settings and no .netrc: a proxy would open connections
    that `guard` cannot see. `resolver` looks host names up, by default the system's.
    """

    def __init__(
        self,
        limits: FetchLimits | None = None,
        guard: AddressGuard | None = None,
        user_agent: str = USER_AGENT,
        resolver: AbstractResolver | None = None,
    ) -> None:
        self._limits = limits or FetchLimits()
        self._guard = guard or AddressGuard()
        self._user_agent = user_agent
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        limits, guard = self._limits, self._guard
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # waiting for a slot would count as time to connect
                resolver=GuardedResolver(guard, self._resolver or aiohttp.DefaultResolver()),
                socket_factory=guard.socket_factory,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={
                "User-Agent": self._user_agent,
                "Accept": _ACCEPT,
                # aiohttp would offer whatever decoders happen to be installed.
                "Accept-Encoding": "gzip, deflate",
            },
            timeout=aiohttp.ClientTimeout(
                total=None, connect=limits.connect_seconds, sock_read=limits.silence_seconds
            ),
            # Real pages send security policies of more than aiohttp's default of 8 KB.
            max_field_size=_HEADER_BYTES,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session:
            await self._session.close()
            self._session = None

    async def get(self, url: str) -> Download:
        """Fetch a page of text or a PDF.

        Raises `FetchError` with the reason in plain words: `HttpStatusError` when the server
        answers with anything but a success, `ContentTypeError` when it is not a page.
        """
        return await self._get(url, page_type)

    async def get_raw(self, url: str) -> Download:
        """Fetch like `get`, whatever the content type: robots.txt comes under many."""
        return await self._get(url, lambda declared, _: declared)

    async def _get(self, url: str, judge: Callable[[str, bytes], str]) -> Download:
        if self._session is None:
            raise RuntimeError("HttpFetcher is used outside of `async with`")
        target = web_url(url)
        try:
            async with asyncio.timeout(self._limits.total_seconds):
                for _ in range(self._limits.redirects + 1):
                    async with self._session.get(target, allow_redirects=False) as response:
                        if response.status not in _REDIRECTS:
                            return await self._read(response, url, judge)
                        target = _redirect(response)
        except aiohttp.ClientError as error:
            raise explain(error, self._limits) from error
        except TimeoutError:
            seconds = self._limits.total_seconds
            raise FetchError(f"no complete answer within {seconds:g} s") from None
        raise FetchError(f"it redirects more than {self._limits.redirects} times")

    async def _read(
        self, response: aiohttp.ClientResponse, requested: str, judge: Callable[[str, bytes], str]
    ) -> Download:
        if not 200 <= response.status < 300:
            raise HttpStatusError(response.status)
        encoding = _header(response, "Content-Encoding").lower()
        if encoding not in _ENCODINGS:
            raise FetchError(f"its body is encoded as {encoding[:80]}, which was not asked for")
        limit = self._limits.body_bytes
        too_large = FetchError(f"it is larger than {limit:,} bytes")
        if (response.content_length or 0) > limit:
            raise too_large
        declared = _header(response, "Content-Type")
        content_type: str | None = None
        body = bytearray()
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            body += chunk
            if len(body) > limit:
                raise too_large
            if content_type is None and len(body) >= SNIFF_BYTES:
                content_type = judge(declared, bytes(body[:SNIFF_BYTES]))
        if content_type is None:
            content_type = judge(declared, bytes(body))
        return Download(str(response.url), content_type, bytes(body), response.status, requested)


def _header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return a header as plain ASCII: aiohttp keeps other bytes as lone surrogates, unprintable."""
    return response.headers.get(name, "").encode("ascii", "replace").decode().strip()


def _redirect(response: aiohttp.ClientResponse) -> URL:
    location = response.headers.get("Location")
    if not location:
        raise FetchError(f"the server answered {response.status} without saying where to go")
    return web_url(location, base=response.url)
