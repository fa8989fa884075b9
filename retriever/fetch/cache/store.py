"""Where entries are kept: the protocol of the stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from citewell.core.errors import CitewellError
from citewell.retriever.fetch.cache.entry import CacheEntry


class CacheError(CitewellError):
    """The cache of web pages cannot be looked at or emptied."""


@dataclass(frozen=True, slots=True)
class CacheUsage:
    """What a store holds, and its bound, `most_bytes`."""

    place: str
    entries: int
    bytes: int
    most_bytes: int


class CacheStore(Protocol):
    """Keeps entries by key, for as long as there is room.

    A store never fails its user: what cannot be read is not there, what cannot be written is left out, and
    the reason is told once.
    """

    async def load(self, key: str) -> CacheEntry | None:
        """Return the entry of a key, or None."""

    async def save(self, key: str, entry: CacheEntry, keep_until: float) -> None:
        """Keep an entry, in place of the one that the key had; `keep_until` is in seconds since the epoch."""

    async def remove(self, key: str) -> None:
        """Forget the entry of a key."""

    async def usage(self) -> CacheUsage:
        """Say what there is; raises `CacheError` when that cannot be found out."""

    async def clear(self) -> int:
        """Forget all entries and return how many there were; raises `CacheError` when that cannot be done."""

    async def close(self) -> None:
        """Finish what was begun, and give connections back."""
