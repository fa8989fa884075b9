"""The icons of sites, from their own origins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from citewell.core.errors import FetchError
from citewell.retriever.fetch.http import HttpFetcher
from citewell.retriever.fetch.urls import web_url

ABSENT_SECONDS = 3600
"""Seconds for which a site without an icon is not asked again."""

_LARGEST = 100_000  # bytes
_SECONDS = 5.0
_MAX_ABSENT = 1000
# By content, as https://mimesniff.spec.whatwg.org/#image-type-pattern-matching-algorithm, since sites may
# declare anything. SVG, which may hold scripts, is not among them.
_TYPES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
)


class Icon(NamedTuple):
    """An image, and its type by its content."""

    media_type: str
    body: bytes


class SiteIcons:
    """The icons that sites have at `/favicon.ico`, fetched as pages are, by their guard, rules and cache."""

    def __init__(self, fetcher: HttpFetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._absent: dict[str, float] = {}  # until when, by address

    async def get(self, page: str) -> Icon | None:
        """Return the icon of the site of a page: at most 100 kB, within 5 seconds.

        None if there is none that can be shown, which is remembered for `ABSENT_SECONDS`.
        """
        try:
            address = str(web_url("/favicon.ico", base=web_url(page)))
        except FetchError:
            return None
        if self._clock() < self._absent.get(address, 0.0):
            return None
        icon = await self._fetched(address)
        self._absent.pop(address, None)
        if icon is None:
            if len(self._absent) >= _MAX_ABSENT:
                del self._absent[next(iter(self._absent))]
            self._absent[address] = self._clock() + ABSENT_SECONDS
        return icon

    async def _fetched(self, address: str) -> Icon | None:
        try:
            async with asyncio.timeout(_SECONDS):
                body = (await self._fetcher.get_part(address, cut_at=_LARGEST + 1)).body
        except (FetchError, TimeoutError):
            return None  # the page shows a letter in its place
        media_type = _image_type(body)
        return Icon(media_type, body) if media_type and len(body) <= _LARGEST else None


def _image_type(body: bytes) -> str:
    if body.startswith(b"RIFF") and body[8:14] == b"WEBPVP":
        return "image/webp"
    return next((media_type for sign, media_type in _TYPES if body.startswith(sign)), "")
