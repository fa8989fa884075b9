"""Name look-ups that leave out refused addresses."""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from core.errors import FetchError
from retriever.fetch.guard import AddressError, AddressGuard


class GuardedResolver(AbstractResolver):
    """Passes on the addresses of a host that `guard` allows.

    The guard's socket factory alone would be safe. Here its reasons survive: when several
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
