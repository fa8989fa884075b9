"""Blocking work in a thread that does not delay the end of the process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(work: Callable[[], T], name: str, on_end: Callable[[], None] = lambda: None) -> T:
    """Return or raise what `work` does, in a thread of its own called `name`.

    A caller that is cancelled leaves the thread behind, and neither the pool of threads that asyncio shares
    nor the end of the process waits for it, as they would for `asyncio.to_thread`. `on_end` is called in the
    event loop once the thread is done, whether anybody waits for it or not.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Future[T]) -> None:
        on_end()
        if result.done():
            return  # the caller was cancelled
        if error := outcome.exception():
            result.set_exception(error)
        else:
            result.set_result(outcome.result())

    def run() -> None:
        outcome: Future[T] = Future()
        try:
            outcome.set_result(work())
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            outcome.set_exception(error)
        with suppress(RuntimeError):  # the event loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, outcome)

    Thread(target=run, name=name, daemon=True).start()
    return await result
