"""What a client hears whose request is cut off, since the service ends and the request took too long."""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import MutableMapping
from typing import Any

from citewell.server.api.problems import MEDIA_TYPE
from citewell.server.problems import problem_of
from citewell.server.work.errors import StoppingError

_LOG = logging.getLogger("citewell.service")


class RepliesToCutRequests:
    """An ASGI application that replies with 503 where uvicorn cancels a request of another one.

    uvicorn does so `server.drain_seconds` after the service was told to end, and by itself replies with 500.
    A reply that has begun ends without its rest.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Pass everything on until the request ends or is cut off."""
        has_begun = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            _LOG.warning("A request was cut off: %s %s", scope["method"], scope["path"])
            if not has_begun:
                await _reply(scope, send)


async def _reply(scope: MutableMapping[str, Any], send: Any) -> None:
    error = StoppingError()
    body = json.dumps(problem_of(error) | {"instance": scope["path"]}).encode()
    headers = {
        b"content-type": MEDIA_TYPE.encode(),
        b"content-length": str(len(body)).encode(),
        b"retry-after": str(math.ceil(error.retry_after)).encode(),
        b"connection": b"close",
    }
    await send({"type": "http.response.start", "status": error.status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": body})
