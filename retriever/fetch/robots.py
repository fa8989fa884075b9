"""Asking robots.txt before a page is read (RFC 9309, https://www.rfc-editor.org/rfc/rfc9309)."""

from __future__ import annotations

import asyncio
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus

from protego import Protego

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download, HttpStatusError
from citewell.retriever.fetch.urls import WebUrl

ROBOTS_BYTES = 512_000
"""Bytes of a robots.txt that are read; the rest is ignored (RFC 9309 §2.5 asks for 500 KiB at least)."""

_GOOD_SECONDS = 3600.0  # RFC 9309 §2.4 allows a day; the HTTP cache may keep the file for longer than this
_BAD_SECONDS = 60.0  # an unreadable file is soon requested again
_MOST_HOSTS = 1_000
_LARGE = 32_768  # characters that take more than some milliseconds
# As Protego reads it: with or without the hyphen and the colon.
_AGENT = re.compile(r"\s*(?:user-agent|useragent|user\s+agent)\s*[:\s](.*)", re.IGNORECASE)
_TOKEN = re.compile("[a-z0-9_-]+")
_OTHERS = "others/"  # no product has a slash in its name


class RobotsError(FetchError):
    """The robots.txt of a site does not allow a URL to be read."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, "robots")


class UnreadableRobotsError(RobotsError):
    """The robots.txt of a site could not be read this time."""


@dataclass(slots=True)
class _Site:
    """The robots.txt of one site: its rules, or the reason why there are none."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    rules: Protego | None = None
    is_large: bool = False
    refusal: str = ""
    expires: float = float("-inf")


class Robots:
    """The robots.txt files of the sites that one process reads, the 1,000 last used ones.

    `get` takes any content type and at most `ROBOTS_BYTES` of it. A robots.txt that is missing (4xx, or more
    redirects than are followed) allows everything (RFC 9309 §2.3.1.3); one that the server cannot deliver
    (5xx, 429, damaged, not within `seconds`) allows nothing (§2.3.1.4). Where the host itself cannot be
    reached, robots.txt is not blamed: the `FetchError` of `get` is raised as it is.
    """

    def __init__(
        self,
        get: Callable[[str], Awaitable[Download]],
        user_agent: str,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._get = get
        # Rules name the product alone; in the whole header "github" would match the contact URL.
        self._product = user_agent.partition("/")[0]
        self._seconds = seconds
        self._clock = clock
        self._sites: OrderedDict[str, _Site] = OrderedDict()

    async def check(self, url: WebUrl) -> float:
        """Return the site's minimum seconds between two pages (Crawl-delay), or 0.

        Raises `RobotsError` if the site does not allow reading it.
        """
        site = await self._site(str(url.origin() / "robots.txt"))
        if site.rules is None:
            hint = "Then nothing of the site is read (RFC 9309); try again later."
            raise UnreadableRobotsError(site.refusal, hint)
        ask = partial(site.rules.can_fetch, str(url), self._product)
        if not (await asyncio.to_thread(ask) if site.is_large else ask()):
            raise RobotsError(
                "robots.txt does not allow it",
                "The setting fetch.robots turns robots.txt off, for sites that allowed it to you.",
            )
        return max(0.0, site.rules.crawl_delay(self._product) or 0.0)

    async def _site(self, robots_url: str) -> _Site:
        site = self._sites.setdefault(robots_url, _Site())
        self._sites.move_to_end(robots_url)
        self._forget()
        site.users += 1
        try:
            async with site.lock:
                if site.expires <= self._clock():
                    await self._renew(site, robots_url)
        finally:
            site.users -= 1
        return site

    def _forget(self) -> None:
        if len(self._sites) > _MOST_HOSTS:
            oldest = next((url for url, site in self._sites.items() if not site.users), None)
            if oldest:
                del self._sites[oldest]

    async def _renew(self, site: _Site, robots_url: str) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                body = (await self._get(robots_url)).body
        except TimeoutError:
            self._refuse(site, f"its robots.txt did not arrive within {self._seconds:g} s")
            return
        except FetchError as error:
            if error.kind == "redirect" or (isinstance(error, HttpStatusError) and _is_missing(error.status)):
                body = b""
            elif isinstance(error, HttpStatusError) or error.kind in {"malformed", "timeout"}:
                self._refuse(site, f"its robots.txt cannot be read: {error.message}")
                return
            else:
                raise
        text = _without_others(body[:ROBOTS_BYTES].decode("utf-8-sig", errors="replace"), self._product)
        site.is_large = len(text) > _LARGE
        site.rules = await asyncio.to_thread(Protego.parse, text) if site.is_large else Protego.parse(text)
        site.expires = self._clock() + _GOOD_SECONDS

    def _refuse(self, site: _Site, refusal: str) -> None:
        site.rules, site.refusal = None, refusal
        site.expires = self._clock() + _BAD_SECONDS


def _is_missing(status: int) -> bool:
    # A server that is only busy (429) may have rules.
    return status < HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.TOO_MANY_REQUESTS


def _without_others(text: str, product: str) -> str:
    """Return a robots.txt in which all programs that are not `product` have one name.

    Protego keeps the rules of a group once for each name, which comes to gigabytes for thousands of names.
    """
    lines = []
    for line in text.splitlines():
        group = _AGENT.match(line.partition("#")[0])
        if group and (name := group[1].strip().lower()):
            token = _TOKEN.match(name)  # RFC 9309 §2.2.1: without the version
            is_own = token is not None and token[0] == product.lower()
            line = f"User-agent: {'*' if not name.strip('*') else product if is_own else _OTHERS}"
        lines.append(line)
    return "\n".join(lines)
