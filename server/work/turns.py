"""Places and turns at something that few can do at once, fair between keys."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

_RESERVE = 8  # the part of the places that a single key leaves free


def full_share(key: str | None, taken: Iterable[str | None], number: int) -> int:
    """Return how many of `number` places `key` has taken if it gets no more, else 0.

    `taken` has the key of each taken place. Each key that has places gets as many as every other; a single
    one leaves an eighth of them, and at least one, to a key that comes next. Requests without a key are not
    limited.
    """
    places = Counter(taken)
    if key is None or not places[key]:
        return 0
    others = len(places.keys() - {key})
    share = number // (others + 1) if others else number - max(number // _RESERVE, 1)
    return places[key] if places[key] >= share else 0


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

    @asynccontextmanager
    async def turn(self, key: str | None) -> AsyncGenerator[None]:
        """Wait for a turn of `key`, and end it with the block."""
        await self.acquire(key)
        try:
            yield
        finally:
            self.release()

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
