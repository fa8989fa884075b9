"""Storage of the outcomes of questions, even while the database is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress

from citewell.core.errors import CitewellError
from citewell.server.store.answers import StoredAnswer
from citewell.server.store.database import ServiceStore
from citewell.server.work.reconnecting import Reconnecting

_PAUSE = 1.0  # seconds between two attempts

_LOG = logging.getLogger("citewell.service")


class EndRecorder:
    """A recorder of finished answers. Answers that the database refuses are kept in memory and retried."""

    def __init__(self, store: Reconnecting[ServiceStore], *, pause: float = _PAUSE) -> None:
        """Write to `store`; after a failure, try again after `pause` seconds."""
        self._store = store
        self._pause = pause
        self._pending: deque[StoredAnswer] = deque()
        self._retrying: asyncio.Task[None] | None = None

    @property
    def pending(self) -> int:
        """The number of answers that are not in the database yet."""
        return len(self._pending)

    async def keep(self, answer: StoredAnswer) -> None:
        """Store an answer, now or as soon as the database accepts it."""
        try:
            await self._write(answer)
        except CitewellError as error:
            _LOG.error("The answer %s is kept in memory until it can be stored: %s", answer.id, error)
            self._pending.append(answer)
            if self._retrying is None or self._retrying.done():
                self._retrying = asyncio.create_task(self._retry())

    async def close(self) -> None:
        """Try a last time to store the remaining answers, and log the ones that could not be stored."""
        if self._retrying is not None:
            self._retrying.cancel()
            await asyncio.wait({self._retrying})
        with suppress(CitewellError):
            await self._drain()
        for answer in self._pending:
            _LOG.error("The answer %s was never stored.", answer.id)

    async def _retry(self) -> None:
        while self._pending:
            await asyncio.sleep(self._pause)
            with suppress(CitewellError):
                await self._drain()

    async def _drain(self) -> None:
        while self._pending:
            await self._write(self._pending[0])
            self._pending.popleft()

    async def _write(self, answer: StoredAnswer) -> None:
        body = dict(answer.body) if answer.body else None
        episode = body.pop("episode", None) if body else None
        await self._store.get().answers.finish(
            answer.id,
            body=body,
            problem=answer.problem,
            status=answer.status,
            seconds=answer.seconds,
            episode=episode,
        )
