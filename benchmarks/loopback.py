"""A name server for benchmarks: every host is this machine."""

from __future__ import annotations

import socket

from aiohttp.abc import AbstractResolver, ResolveResult


class Loopback(AbstractResolver):
    """A resolver of every host to this machine, so that each page may have a separate host."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Resolve any name to 127.0.0.1."""
        return [
            ResolveResult(hostname=host, host="127.0.0.1", port=port, family=socket.AF_INET, proto=0, flags=0)
        ]

    async def close(self) -> None:
        """Do nothing."""
