"""The address that is really connected to the service, which `X-Forwarded-For` does not change."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

PEER = "peer"
"""The name of the address in the state of a request."""


class NotesPeer:
    """An ASGI application that notes the address of the peer for another one, before proxies are believed."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Pass everything on, a request with the address of its peer."""
        if scope["type"] == "http":
            client = scope.get("client")
            scope.setdefault("state", {})[PEER] = client[0] if client else None
        await self._app(scope, receive, send)
