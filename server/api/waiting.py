"""Wait for an answer, or other work, as long as the client does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from litestar import Request

from citewell.server.store.answers import StoredAnswer
from citewell.server.work.errors import CancelledError
from citewell.server.work.subscription import Subscription

T = TypeVar("T")


async def ended(request: Request[Any, Any, Any], subscription: Subscription) -> StoredAnswer:
    """Wait for the answer, and raise the error that the question ended with.

    If the client leaves, its claim is given up at once.
    """
    try:
        return await while_connected(request, subscription.ended())
    finally:
        subscription.leave()


async def while_connected(request: Request[Any, Any, Any], work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`; cancel it and raise `CancelledError` if the client leaves before.

    The framework cancels the streams of clients that leave, but lets other handlers run to their end: so
    this one watches the connection itself.
    """
    ending = asyncio.create_task(work)
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            raise CancelledError
        return ending.result()
    finally:
        for task in (ending, leaving):
            task.cancel()
        await asyncio.wait({ending, leaving})


async def _gone(request: Request[Any, Any, Any]) -> None:
    """Return once the client has closed the connection; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
