"""Turns at something that few can do at once, fair between the keys that wait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque


class FairTurns:
    """A semaphore that keys pass in rotation: one that waits many times delays another by one turn."""

    def __init__(self, number: int) -> None:
        """Let `number` pass at once."""
        self._free = number
        self._waiting: OrderedDict[str | None, deque[asyncio.Future[None]]] = OrderedDict()

    async def acquire(self, key: str | None) -> None:
        """Wait for a turn of `key`."""
        if self._free and not self._waiting:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # it came at the same moment
            raise

    def release(self) -> None:
        """End a turn."""
        while self._waiting:
            key, turns = self._waiting.popitem(last=False)
            turn = turns.popleft()
            if turns:
                # A turn that nobody waits for any more costs its key nothing.
                self._waiting[key] = turns
                self._waiting.move_to_end(key, last=not turn.done())
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
