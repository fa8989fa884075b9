"""Opening a resource that the service needs, with retries until it is available."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Generic, TypeVar

from citewell.core.errors import CitewellError
from citewell.server.work.errors import NotReadyError

T = TypeVar("T")

_FIRST_PAUSE = 0.5  # seconds
_LONGEST_PAUSE = 10.0

_LOG = logging.getLogger("citewell.service")


class Reconnecting(Generic[T]):
    """A resource of the service, such as its database, that may be unavailable when the service starts.

    One task opens and closes it, as asyncio's own context managers require.
    """

    def __init__(self, name: str, opener: Callable[[], AbstractAsyncContextManager[T]]) -> None:
        """Open with `opener`; `name` is for messages."""
        self._name = name
        self._opener = opener
        self._value: T | None = None
        self._problem: CitewellError | None = None
        self._tried = asyncio.Event()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def problem(self) -> CitewellError | None:
        """The reason why the resource is not open; None if it is."""
        if self._value is not None:
            return None
        return self._problem or NotReadyError(f"The {self._name} is being opened.", "Try again in a moment.")

    def get(self) -> T:
        """Return the resource; raises `NotReadyError` until it is open."""
        if self._value is None:
            why = f": {self._problem.message}" if self._problem else "."
            raise NotReadyError(f"The {self._name} is not ready{why}", "The service keeps trying.")
        return self._value

    async def start(self) -> None:
        """Try to open the resource, and keep trying in the background.

        Raises every error that is not a `CitewellError`: retries do not fix a bug.
        """
        self._task = asyncio.create_task(self._hold())
        tried = asyncio.create_task(self._tried.wait())
        await asyncio.wait({self._task, tried}, return_when=asyncio.FIRST_COMPLETED)
        tried.cancel()
        if self._task.done():
            self._task.result()

    async def close(self) -> None:
        """Close the resource, and stop trying."""
        self._stop.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _hold(self) -> None:
        pause = _FIRST_PAUSE
        while not self._stop.is_set():
            try:
                async with self._opener() as value:
                    self._value, self._problem = value, None
                    self._tried.set()
                    _LOG.info("The %s is ready.", self._name)
                    await self._stop.wait()
                    self._value = None
            except CitewellError as error:
                self._note(error)
            self._tried.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stop.wait()
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _note(self, error: CitewellError) -> None:
        if self._problem is None or str(self._problem) != str(error):
            _LOG.error("The %s cannot be opened: %s", self._name, error)
        self._problem = error
