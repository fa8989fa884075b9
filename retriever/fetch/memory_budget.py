"""How many bytes of pages are held at a time, from their download until they have been read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Self


class MemoryBudget:
    """A bound on the bytes of all pages together: downloads wait for room, and none of them fails.

    A page takes room piece by piece, since nobody knows how large it will be. Pages that have begun are
    served before others begin, and else whoever asked first is served first. Pages that have begun never wait
    for each other alone: as much as the largest may need is kept back, and is given to one page only, which
    can then end (the banker's algorithm, Dijkstra, EWD-108, 1965, for pages that may all become equally
    large). It belongs to one event loop.
    """

    def __init__(self, most_bytes: int = 64_000_000, page_bytes: int = 5_000_000) -> None:
        """Let pages take `most_bytes` in all, or twice `page_bytes`, the largest that one may have."""
        self._free = max(most_bytes, 2 * page_bytes)
        self._page_bytes = page_bytes
        self._to_begin = page_bytes + self._free // 4  # what is left for those that have begun
        self._favoured: Allocation | None = None
        self._growing: deque[_Wish] = deque()
        self._beginning: deque[_Wish] = deque()

    @contextmanager
    def hold(self) -> Iterator[Lease]:
        """Hold a page in the block; at its end, all that the page has taken is free again."""
        hold = Lease(self)
        try:
            yield hold
        finally:
            hold.close()

    @property
    def free(self) -> int:
        """The bytes that nobody holds."""
        return self._free

    async def _take(self, part: Allocation, size: int) -> None:
        wish = _Wish(part, size, asyncio.get_running_loop().create_future())
        queue = self._growing if part.size else self._beginning
        queue.append(wish)
        self._serve()
        try:
            await wish.granted
        except BaseException:
            if wish in queue:
                queue.remove(wish)
                self._serve()
            raise

    def _give(self, part: Allocation, size: int) -> None:
        part.size -= size
        self._free += size
        self._serve()

    def _end(self, part: Allocation) -> None:
        """Note that a part grows no more."""
        if self._favoured is part:
            self._favoured = None
            self._serve()

    def _serve(self) -> None:
        while self._growing and self._may_grow(self._growing[0]):
            self._grant(self._growing.popleft())
        for wish in [wish for wish in self._growing if wish.part is self._favoured]:
            self._growing.remove(wish)
            self._grant(wish)
        while self._beginning and not self._growing:
            if self._free - self._beginning[0].size < self._to_begin:
                break
            self._grant(self._beginning.popleft())

    def _may_grow(self, wish: _Wish) -> bool:
        if wish.part is self._favoured or self._free - wish.size >= self._page_bytes:
            return True
        if self._favoured is None and self._free >= self._page_bytes - wish.part.size:
            self._favoured = wish.part
            return True
        return False

    def _grant(self, wish: _Wish) -> None:
        self._free -= wish.size
        wish.part.size += wish.size
        if not wish.granted.done():  # else it is being cancelled, and gives all of it back
            wish.granted.set_result(None)


class Lease:
    """What one page takes of a `MemoryBudget`, with all attempts to fetch it."""

    def __init__(self, room: MemoryBudget) -> None:
        self._room = room
        self._kept: list[Allocation] = []
        self._is_closed = False

    def part(self) -> Allocation:
        """Begin an attempt; use it in a `with` block, which gives its room back unless it was kept."""
        return Allocation(self._room, self)

    def close(self) -> None:
        """Give everything back."""
        self._is_closed = True
        while self._kept:
            self._kept.pop().close()

    def _keep(self, part: Allocation) -> None:
        if self._is_closed:
            part.close()
        else:
            self._kept.append(part)


class Allocation:
    """The room of one body, which grows."""

    def __init__(self, room: MemoryBudget, hold: Lease) -> None:
        self.size = 0
        """Bytes that are taken."""
        self._room = room
        self._hold = hold
        self._is_kept = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_kept:
            self.close()

    async def reach(self, size: int) -> None:
        """Take room until there are `size` bytes of it; waits as long as there is none."""
        if size > self.size:
            await self._room._take(self, size - self.size)

    def keep(self, size: int) -> None:
        """Grow no more, keep `size` bytes until the page is given up, and return the rest."""
        self._is_kept = True
        self._room._end(self)
        self._room._give(self, max(0, self.size - size))
        self._hold._keep(self)

    def close(self) -> None:
        """Give everything back."""
        self._room._end(self)
        self._room._give(self, self.size)


class _Wish(NamedTuple):
    part: Allocation
    size: int
    granted: asyncio.Future[None]
