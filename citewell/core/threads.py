"""Blocking work in a thread, which has always ended when its caller continues."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T], *, stop: Callable[[], object] = lambda: None) -> T:
    """Call `work` in a thread, and return its result.

    `asyncio.to_thread` abandons the thread of a cancelled caller; this function calls `stop` and waits until
    the thread has ended. `stop` is called in any case.
    """
    return await _ended(asyncio.create_task(asyncio.to_thread(work)), stop)


async def in_own_thread(work: Callable[[], T], *, stop: Callable[[], object] = lambda: None) -> T:
    """Call `work` as `in_thread` does, in a new thread.

    asyncio has four threads more than the machine has processors: work that waits for seconds would keep them
    from others.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    with ThreadPoolExecutor(1, "citewell-model") as thread:
        return await _ended(loop.run_in_executor(thread, lambda: context.run(work)), stop)


async def _ended(working: asyncio.Future[T], stop: Callable[[], object]) -> T:
    try:
        return await asyncio.shield(working)
    finally:
        stop()
        await asyncio.gather(working, return_exceptions=True)
