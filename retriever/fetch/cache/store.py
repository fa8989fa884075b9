"""The protocol of the stores of cache entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from citewell.core.errors import CitewellError
from citewell.retriever.fetch.cache.entry import CacheEntry


class CacheError(CitewellError):
    """The cache of web pages cannot be inspected or emptied."""


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """The contents of a store in numbers, and its bound, `most_bytes`."""

    place: str
    entries: int
    bytes: int
    most_bytes: int


class CacheStore(Protocol):
    """A store of entries by key, as long as there is room.

    A store never fails its user: an unreadable entry counts as missing, an entry that cannot be written is
    dropped, and the reason is reported once.
    """

    async def load(self, key: str) -> CacheEntry | None:
        """Return the entry of a key, or None."""

    async def save(self, key: str, entry: CacheEntry, keep_until: float) -> None:
        """Store an entry, replacing the one of the same key; `keep_until` is in seconds since the epoch."""

    async def remove(self, key: str) -> None:
        """Delete the entry of a key."""

    async def usage(self) -> CacheUsage:
        """Return the numbers of entries and bytes; raises `CacheError` if they cannot be read."""

    async def clear(self) -> int:
        """Delete all entries and return their number; raises `CacheError` if that fails."""

    async def close(self) -> None:
        """Finish pending writes, and release connections."""
