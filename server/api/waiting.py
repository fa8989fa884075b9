"""Waiting for an answer on behalf of a client, for as long as the client does."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request

from citewell.server.work.errors import CancelledError
from citewell.server.work.queue import QuestionOutcome, Subscription


async def ended(request: Request[Any, Any, Any], ticket: Subscription) -> QuestionOutcome:
    """Wait for the end of a question; raises the error that it ended with.

    The claim of a client that leaves is given up at once. The framework cancels streams of clients that leave
    and lets other handlers run to their end, so that this one looks for itself.
    """
    ending = asyncio.create_task(ticket.ended())
    leaving = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({ending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not ending.done():
            raise CancelledError
        outcome = ending.result()
    finally:
        ticket.leave()
        for task in (ending, leaving):
            task.cancel()
        await asyncio.wait({ending, leaving})
    if outcome.error is not None:
        raise outcome.error
    return outcome


async def _gone(request: Request[Any, Any, Any]) -> None:
    """Return once the client has closed the connection; the body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
