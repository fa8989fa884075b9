"""Asking robots.txt before a page is read (RFC 9309, https://www.rfc-editor.org/rfc/rfc9309)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable

from protego import Protego

from core.errors import FetchError
from retriever.fetch.download import Download, HttpStatusError
from retriever.fetch.guard import AddressError
from retriever.fetch.http import web_url

_DISALLOW_ALL = "User-agent: *\nDisallow: /"


class Robots:
    """The robots.txt files of the hosts that one run meets; each is fetched once.

    `get` should take any content type (`HttpFetcher.get_raw`). A robots.txt that is missing (4xx)
    allows everything; one that cannot be fetched (5xx, unreachable, too large) allows nothing
    (RFC 9309 §2.3.1). Both methods raise `FetchError` for a URL that is not http or https, and for a host
    whose address is refused.
    """

    def __init__(self, get: Callable[[str], Awaitable[Download]], user_agent: str) -> None:
        self._get = get
        # Rules name the product alone; in the whole header "github" would match the contact URL.
        self._product = user_agent.partition("/")[0]
        self._rules: dict[str, Protego] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def allowed(self, url: str) -> bool:
        """Say whether the site lets this user agent read `url`."""
        return (await self._rules_for(url)).can_fetch(url, self._product)

    async def delay(self, url: str) -> float:
        """Return the seconds that the site wants between two requests (Crawl-delay), or 0."""
        return (await self._rules_for(url)).crawl_delay(self._product) or 0.0

    async def _rules_for(self, url: str) -> Protego:
        robots_url = str(web_url(url).origin() / "robots.txt")
        async with self._locks[robots_url]:
            if robots_url not in self._rules:
                self._rules[robots_url] = Protego.parse(await self._text(robots_url))
            return self._rules[robots_url]

    async def _text(self, robots_url: str) -> str:
        try:
            download = await self._get(robots_url)
        except HttpStatusError as error:
            return "" if 400 <= error.status < 500 else _DISALLOW_ALL
        except AddressError:
            raise  # no page of this host may be fetched, and robots.txt is not why
        except FetchError:
            return _DISALLOW_ALL
        return download.body.decode("utf-8-sig", errors="replace")
