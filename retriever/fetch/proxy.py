"""HTTP proxies: their settings, and the targets that may be requested through them."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self

from aiohttp import encode_basic_auth
from aiohttp.abc import AbstractResolver
from yarl import URL

from citewell.core.errors import FetchError, SettingsError
from citewell.retriever.fetch.guard import AddressError, AddressGuard
from citewell.retriever.fetch.urls import WebUrl

if TYPE_CHECKING:
    from aiohttp import AddrInfoType

# In the list of public names, but not of the Internet: RFC 7686, RFC 8375.
_INTERNAL = frozenset({"onion", "arpa"})


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy (RFC 9110 §7.3.2) that opens all connections for us. Its own address may be private."""

    url: URL
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Headers for the proxy alone: the credentials, if any."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `http://user:password@host:port`; raises `SettingsError`, which shows none of it."""
        try:
            url = URL(text)
            user, password, port = url.user, url.password, url.port
        except ValueError:
            url, user, password, port = URL(), None, None, None
        if url.scheme not in {"http", "https"} or not url.raw_host or not port:
            raise SettingsError(
                "The setting fetch.proxy is not the address of an HTTP proxy.",
                "Write it as http://proxy.example.org:3128, with user:password@ before the name if need be.",
            )
        if not (user or password):
            return cls(url.origin())
        credentials = encode_basic_auth(user or "", password or "", encoding="utf-8")
        return cls(url.with_user(None).origin(), {"Proxy-Authorization": credentials})

    def socket_factory(self, addr_info: AddrInfoType) -> socket.socket:
        """Make a socket to the proxy; raises `AddressError` for a connection to anything else."""
        family, kind, protocol, _, (address, port, *_) = addr_info
        if port != self.url.port:
            raise AddressError(f"{address} on port {port} is not the proxy")
        return socket.socket(family, kind, protocol)


class TargetCheck:
    """A guard of targets behind a proxy, since the guard at the socket only sees the proxy.

    All addresses of a target that can be looked up here must pass `guard`, since the proxy may use any of
    them. A name that cannot be looked up here, as in networks where the proxy alone can, is left to the
    proxy if it ends in a top-level domain of the public suffix list; names such as `db.svc`, `vault.consul`
    and `printer.localdomain` do not.
    """

    def __init__(self, guard: AddressGuard, resolver: AbstractResolver, seconds: float) -> None:
        self._guard = guard
        self._resolver = resolver
        self._seconds = seconds

    async def check(self, url: WebUrl) -> None:
        """Raise `AddressError` for a target that is refused."""
        assert url.raw_host is not None
        host, port = url.raw_host, url.port or 0
        if _is_address(host):
            self._guard.check(host, port)
            return
        addresses = await self._addresses(host, port)
        for address in addresses:
            self._guard.check(address, port)
        if addresses:
            return
        self._guard.check_port(port)
        if not _is_public(host.rstrip(".")):
            raise AddressError(f"{host} is a name of a private network, and cannot be looked up here")

    async def _addresses(self, host: str, port: int) -> list[str]:
        try:
            async with asyncio.timeout(self._seconds):
                results = await self._resolver.resolve(host, port, socket.AF_UNSPEC)
        except UnicodeError:
            raise FetchError(f"{host[:80]!r} is not the name of a host", kind="url") from None
        except (OSError, TimeoutError):
            return []
        return [result["host"] for result in results]


def _is_public(host: str) -> bool:
    from tld import get_fld

    rest, _, last = host.rpartition(".")
    if not rest or last in _INTERNAL:
        return False
    # `example` is for documentation alone (RFC 2606), and in no network.
    return last == "example" or get_fld(f"http://a.{last}/", fail_silently=True) is not None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
