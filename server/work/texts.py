"""Texts that clients send to be encoded or ranked: a few requests at once, within limits of time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from citewell.core.errors import CitewellError
from citewell.retriever.encoder.encoder import Vectors
from citewell.server.work.errors import QueueFullError, QueueShareError
from citewell.server.work.queue import QueueLimits
from citewell.server.work.turns import FairTurns, full_share

_BATCH = 32  # texts after which another request may go on, or a client that has left is noticed
_RETRY = 2.0  # seconds


class TextsLateError(CitewellError):
    """Encoding or ranking the texts took too long."""

    status = 504

    def __init__(self, seconds: float) -> None:
        """The texts were read for `seconds`."""
        super().__init__(
            f"The texts were not read within {seconds:g} s.", "Send fewer, or raise server.answer_seconds."
        )


class TextService:
    """Reads texts in batches, which the requests of all keys take in turns."""

    def __init__(self, limits: QueueLimits) -> None:
        """Work on `limits.concurrency` batches at once."""
        self._limits = limits
        self._turns = FairTurns(limits.concurrency)
        self._taken: list[str | None] = []  # the key of each request

    async def read(
        self,
        texts: Sequence[str],
        work: Callable[[Sequence[str]], Vectors],
        key_id: str | None,
        last: Callable[[Vectors], Vectors] = lambda rows: rows,
    ) -> Vectors:
        """Return the rows of `work` for all texts, which it gets batch by batch, as `last` changes them.

        Raises `QueueFullError`, `QueueShareError`, `TextsLateError`, and as the two functions do.
        """
        if len(self._taken) >= self._limits.places:
            raise QueueFullError(len(self._taken), _RETRY)
        if count := full_share(key_id, self._taken, self._limits.places):
            raise QueueShareError(count, _RETRY)
        self._taken.append(key_id)
        try:
            async with asyncio.timeout(self._limits.answer_seconds):
                batches = [
                    await self._turn(partial(work, texts[start : start + _BATCH]), key_id)
                    for start in range(0, len(texts), _BATCH)
                ]
                return await self._turn(lambda: last(np.concatenate(batches)), key_id)
        except TimeoutError:
            raise TextsLateError(self._limits.answer_seconds) from None
        finally:
            self._taken.remove(key_id)

    async def _turn(self, work: Callable[[], Vectors], key_id: str | None) -> Vectors:
        async with self._turns.turn(key_id):
            return await asyncio.to_thread(work)
