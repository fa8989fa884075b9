"""A bound on the bytes of all pages in memory, from their download until they have been read."""

from __future__ import annotations

import asyncio
from typing import Self

_SMALL_SHARE = 10  # a small slot has the size of the largest page divided by this


class MemoryBudget:
    """Two semaphores that bound the bytes of all pages: downloads wait for memory, and none of them fails.

    Every body takes a small slot before it arrives. One that outgrows it takes a large slot as well, which
    holds the largest page. Slots are taken in this order, and the holder of a large slot waits for nothing
    else, so pages cannot deadlock. It belongs to one event loop.
    """

    def __init__(self, max_bytes: int = 64_000_000, page_bytes: int = 5_000_000) -> None:
        """Let pages take `max_bytes` in all, or twice `page_bytes`, the largest that one may have."""
        max_bytes = max(max_bytes, 2 * page_bytes)
        large = max(1, max_bytes // (3 * page_bytes))
        self.small_bytes = max(1, page_bytes // _SMALL_SHARE)
        self.small = asyncio.Semaphore((max_bytes - large * page_bytes) // self.small_bytes)
        self.large = asyncio.Semaphore(large)


class Lease:
    """The memory of one page: of all attempts to fetch it, and of its body until it has been read."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self._kept: list[Allocation] = []
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def allocation(self) -> Allocation:
        """Begin an attempt; use it in a `with` block, which frees its memory unless it is kept."""
        return Allocation(self._budget, self)

    def keep(self, allocation: Allocation) -> None:
        """Free an allocation with this lease, or at once where the lease has been closed."""
        if self._is_closed:
            allocation.close()
        else:
            self._kept.append(allocation)

    def close(self) -> None:
        """Free everything."""
        self._is_closed = True
        while self._kept:
            self._kept.pop().close()


class Allocation:
    """The memory of one body while it grows."""

    def __init__(self, budget: MemoryBudget, lease: Lease) -> None:
        self._budget = budget
        self._lease = lease
        self._taken: list[asyncio.Semaphore] = []
        self._is_kept = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._is_kept:
            self.close()

    async def grow(self, size: int) -> None:
        """Wait until there is memory for `size` bytes."""
        if not self._taken:
            await self._take(self._budget.small)
        if size > self._budget.small_bytes and len(self._taken) == 1:
            await self._take(self._budget.large)

    def keep(self) -> None:
        """Keep the memory until the lease is closed."""
        self._is_kept = True
        self._lease.keep(self)

    def close(self) -> None:
        """Free the memory."""
        while self._taken:
            self._taken.pop().release()

    async def _take(self, slots: asyncio.Semaphore) -> None:
        await slots.acquire()
        self._taken.append(slots)
