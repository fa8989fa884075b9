"""Wait for an answer as long as the client does."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request

from citewell.server.store.answers import StoredAnswer
from citewell.server.work.errors import CancelledError
from citewell.server.work.subscription import Subscription


async def ended(request: Request[Any, Any, Any], subscription: Subscription) -> StoredAnswer:
    """Wait for the answer, and raise the error that the question ended with.

    If the client leaves, its claim is given up at once. The framework cancels the streams of clients that
    leave, but lets other handlers run to their end: so this one watches the connection itself.
    """
    ending = asyncio.create_task(subscription.ended())
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            raise CancelledError
        return ending.result()
    finally:
        subscription.leave()
        for task in (ending, leaving):
            task.cancel()
        await asyncio.wait({ending, leaving})


async def _gone(request: Request[Any, Any, Any]) -> None:
    """Return once the client has closed the connection; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
