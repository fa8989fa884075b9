"""Passages for threads and event loops alike: models and connections stay open in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from threading import Lock, Thread, current_thread
from typing import Any, Self

from citewell.core.types import Reference
from citewell.integrations.passages import Find

Opener = Callable[[], AbstractAsyncContextManager[Find]]

_CLOSING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Open:
    find: Find
    loop: asyncio.AbstractEventLoop

    def begin(self, question: str) -> Future[tuple[Reference, ...]]:
        async def found() -> tuple[Reference, ...]:
            return await self.find(question)

        return asyncio.run_coroutine_threadsafe(found(), self.loop)


class HeldPassages:
    """Passages that are opened at the first question, and closed when nobody holds them any more.

    An opening that failed is tried again at the next question. All methods raise `CitewellError`.
    """

    def __init__(self, opener: Opener) -> None:
        """Open with `opener`."""
        self._opener = opener
        self._lock = Lock()
        self._opening: Future[_Open] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the same passages: a copy of who holds them shares what is open."""
        return self

    def find(self, question: str) -> tuple[Reference, ...]:
        """Return the references of a question; blocks this thread."""
        return self._opened().result().begin(question).result()

    async def find_later(self, question: str) -> tuple[Reference, ...]:
        """Return the references of a question, from any event loop."""
        opened = await asyncio.shield(asyncio.wrap_future(self._opened()))
        return await asyncio.wrap_future(opened.begin(question))

    def _opened(self) -> Future[_Open]:
        with self._lock:
            known = self._opening
            if known is None or (known.done() and known.exception() is not None):
                known = self._opening = Future()
                stop: Future[None] = Future()
                thread = Thread(
                    target=_run, args=(_hold(self._opener, known, stop),), name="citewell", daemon=True
                )
                thread.start()
                close = weakref.finalize(self, _stop, stop, thread)
                # At the exit, before the threads that closing needs are gone.
                threading._register_atexit(close)  # type: ignore[attr-defined]
            return known


def _run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


async def _hold(opener: Opener, opening: Future[_Open], stop: Future[None]) -> None:
    try:
        async with opener() as find:
            opening.set_result(_Open(find, asyncio.get_running_loop()))
            await asyncio.wrap_future(stop)
    except BaseException as error:
        if opening.done():
            raise
        opening.set_exception(error)


def _stop(stop: Future[None], thread: Thread) -> None:
    if not stop.done():
        stop.set_result(None)
    if thread is not current_thread():  # the garbage collector runs in any thread
        thread.join(_CLOSING_SECONDS)
