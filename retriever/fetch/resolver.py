"""Name look-ups: by the system, and without refused addresses."""

from __future__ import annotations

import asyncio
import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from citewell.core.errors import FetchError
from citewell.retriever.daemon_thread import in_daemon_thread
from citewell.retriever.fetch.guard import AddressError, AddressGuard

_LOOK_UPS = 64  # at a time; the system may take half a minute to give up on one


class SystemResolver(AbstractResolver):
    """A resolver that uses the system's lookup, with a thread per name.

    An unresponsive name server delays neither the ranking nor the end of the process.
    """

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(_LOOK_UPS)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Look `host` up; raises `OSError` if nothing is found, and `UnicodeError` for an invalid name."""
        await self._slots.acquire()
        return await in_daemon_thread(
            lambda: _addresses(host, port, family), f"look-up of {host}", on_end=self._slots.release
        )

    async def close(self) -> None:
        """Do nothing: threads that still wait end by themselves."""


def _addresses(host: str, port: int, family: socket.AddressFamily) -> list[ResolveResult]:
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    return [
        ResolveResult(
            hostname=host,
            host=str(address[0]),
            port=port,
            family=kind,
            proto=proto,
            flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
        )
        for kind, _, proto, _, address in found
    ]


class GuardedResolver(AbstractResolver):
    """A resolver that returns only the addresses that `guard` allows.

    The guard's socket factory alone would be safe. Here, its reasons are kept: when several
    addresses fail, aiohttp joins their errors into one string and their classes are lost.
    """

    def __init__(self, guard: AddressGuard, resolver: AbstractResolver) -> None:
        self._guard = guard
        self._resolver = resolver

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Look `host` up.

        Raises `AddressError` when it has addresses but none is allowed, and `FetchError` when
        its name breaks the rules for names.
        """
        try:
            results = await self._resolver.resolve(host, port, family)
        except UnicodeError:
            # Python encodes names before it looks them up; a label has 1 to 63 bytes (RFC 1035).
            raise FetchError(f"{host[:80]!r} is not the name of a host") from None
        allowed: list[ResolveResult] = []
        refusal: AddressError | None = None
        for result in results:
            try:
                self._guard.check(result["host"], port)
            except AddressError as error:
                refusal = error
            else:
                allowed.append(result)
        if refusal and not allowed:
            raise refusal
        return allowed

    async def close(self) -> None:
        """Close the resolver underneath."""
        await self._resolver.close()
