"""Politeness towards hosts: few requests at a time, spaced out, and none to a host that asks for a break."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from citewell.core.errors import FetchError
from citewell.core.http_time import retry_after
from citewell.retriever.fetch.transport import Request, Response, Transport
from citewell.retriever.fetch.urls import WebUrl

_MOST_HOSTS = 10_000
_LONGEST_REST = 3600.0  # seconds; what a server may ask of one process
_PATIENT_REST = 60.0  # seconds; the longest rest that a crawl waits for
_USUAL_REST = 10.0  # seconds, after a 429 without Retry-After


@dataclass(slots=True)
class _Host:
    """The record of one host."""

    slots: asyncio.Semaphore
    users: int = 0
    last_turn: float = float("-inf")
    rests_until: float = float("-inf")


@dataclass
class Hosts:
    """The records of the hosts that one process reads from, at most 10,000.

    A host is a name or an address with a port. `connections` requests of one host run at the same time, and
    the others wait. `spacing` is the least number of seconds between two pages of one host, unless the host
    asks for more (Crawl-delay); a page that would have to wait longer than `max_wait` seconds for it fails at
    once. `clock` counts seconds.
    """

    connections: int = 6
    spacing: float = 0.0
    max_wait: float = 5.0
    clock: Callable[[], float] = time.monotonic
    _hosts: OrderedDict[tuple[str, int], _Host] = field(default_factory=OrderedDict)

    def host(self, url: WebUrl) -> _Host:
        """Return the record of the host of `url`, and drop the least recently used ones."""
        key = (url.raw_host or "", url.port or 0)
        host = self._hosts.setdefault(key, _Host(asyncio.Semaphore(self.connections)))
        self._hosts.move_to_end(key)
        if len(self._hosts) > _MOST_HOSTS:
            oldest = next(
                (key for key, old in self._hosts.items() if not old.users and old is not host), None
            )
            if oldest:
                del self._hosts[oldest]
        return host

    def __len__(self) -> int:
        return len(self._hosts)

    def wait(self, url: WebUrl, spacing: float) -> float:
        """Return the seconds until another page of the host may be requested, 0 for now.

        For a host that asked for a break of more than a minute it is 0: `PoliteTransport` refuses it at once.
        """
        host = self.host(url)
        now = self.clock()
        rest = host.rests_until - now
        if rest > _PATIENT_REST:
            return 0.0
        return max(0.0, rest, host.last_turn + max(spacing, self.spacing) - now)


class PoliteTransport:
    """A `Transport` that is polite, see `Hosts`. A cache goes around it: what is cached need not wait."""

    def __init__(self, transport: Transport, hosts: Hosts) -> None:
        self._transport = transport
        self._hosts = hosts

    async def send(self, request: Request) -> Response:
        """Send `request` when it is its turn.

        Raises `FetchError` of the kind `rate_limited` during a break that the host asked for (429, or 503
        with Retry-After, RFC 9110 §10.2.3), and `robots` when its Crawl-delay is longer than there is time.
        """
        host = self._hosts.host(request.url)
        host.users += 1
        try:
            async with host.slots:
                self._check_rest(host)
                await self._turn(host, request.spacing)
                response = await self._transport.send(request)
                rest = _rest(response)
                if rest:
                    host.rests_until = max(host.rests_until, self._hosts.clock() + rest)
                return response
        finally:
            host.users -= 1

    def _check_rest(self, host: _Host) -> None:
        left = host.rests_until - self._hosts.clock()
        if left > 0:
            raise FetchError(
                f"the server asked not to be asked again for another {left:.0f} s", kind="rate_limited"
            )

    async def _turn(self, host: _Host, wanted: float | None) -> None:
        if wanted is None:
            return
        now = self._hosts.clock()
        spacing = max(wanted, self._hosts.spacing)
        turn = max(now, host.last_turn + spacing)
        if turn - now > self._hosts.max_wait:
            raise FetchError(
                f"its site wants {spacing:g} s between two requests, longer than the deadline allows",
                "The page can be read a little later.",
                "robots",
            )
        host.last_turn = turn
        await asyncio.sleep(turn - now)


def _rest(response: Response) -> float:
    """Return the seconds of the break that a host's answer asks for."""
    if response.status not in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return 0.0
    rest = retry_after(response.headers)
    if rest is None:
        return _USUAL_REST if response.status == HTTPStatus.TOO_MANY_REQUESTS else 0.0
    return min(rest, _LONGEST_REST)
