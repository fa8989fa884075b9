"""Blocking work in a thread, which has always ended when its caller continues."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], *, stop: Callable[[], object] = lambda: None) -> T:
    """Call `work` in a thread, and return its result.

    `asyncio.to_thread` abandons the thread of a cancelled caller; this function calls `stop` and waits until
    the thread has ended. `stop` is called in any case.
    """
    working = asyncio.create_task(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    finally:
        stop()
        await asyncio.gather(working, return_exceptions=True)
