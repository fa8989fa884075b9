"""The request to work in another thread that it end soon."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class StopSignal:
    """A request to stop, made in any thread; it is not taken back.

    Work between two steps asks `check`; a coroutine is cancelled at once inside `cancelling`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._running: dict[asyncio.Task[Any], asyncio.AbstractEventLoop] = {}

    def set(self) -> None:
        """Request the end of the work."""
        with self._lock:
            self._is_set = True
            for task, loop in self._running.items():
                loop.call_soon_threadsafe(task.cancel)

    def check(self) -> None:
        """Raise `asyncio.CancelledError` if the work is to end."""
        if self._is_set:
            raise asyncio.CancelledError

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Cancel the task that runs inside when the work is to end."""
        task = asyncio.current_task()
        assert task is not None
        with self._lock:
            self.check()
            self._running[task] = asyncio.get_running_loop()
        try:
            yield
        finally:
            with self._lock:
                del self._running[task]
