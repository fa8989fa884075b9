"""The cache on disk, which the processes of one computer share."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import NamedTuple, TypeVar

from citewell.retriever.fetch.cache.database import CacheDatabase
from citewell.retriever.fetch.cache.entry import CacheEntry, DamagedEntryError, decode, encode
from citewell.retriever.fetch.cache.store import CacheError, CacheUsage

T = TypeVar("T")

_SHARE = 10  # the max share of the cache for one entry
_FILE = "pages.db"
_TOUCH_SECONDS = 60.0  # seconds between two updates of an entry's last use


class _FoundEntry(NamedTuple):
    entry: CacheEntry
    used: float


class DiskStore:
    """A `Store` in a SQLite file in `folder`.

    The file has at most `most_bytes`, and beside it there is a log of a few megabytes while it is written.

    It works in two threads of its own, one to read and one to write, so that no page waits for the writing of
    another. Entries with a body of more than `entry_bytes` are not returned. `warn` is called in the context
    (`contextvars`) of the caller.
    """

    def __init__(self, folder: Path, most_bytes: int, entry_bytes: int, warn: Callable[[str], None]) -> None:
        self._place = folder / _FILE
        self._most_bytes = most_bytes
        self._entry_bytes = entry_bytes
        self._warn = warn
        self._failed = False
        self._reading = CacheDatabase(self._place, most_bytes, warn)
        self._writing = CacheDatabase(self._place, most_bytes, warn)
        self._reader = ThreadPoolExecutor(1, "cache-reader")
        self._writer = ThreadPoolExecutor(1, "cache-writer")
        self._touches: set[asyncio.Task[None]] = set()

    async def load(self, key: str) -> CacheEntry | None:
        """Return the entry of a key, or None; a damaged one is deleted."""

        try:
            found = await self._run(self._reader, lambda: self._read(key))
        except DamagedEntryError as error:
            self._warn(
                f"An entry of the cache of web pages {self._place} was damaged ({error}). It is dropped."
            )
            await self.remove(key)
            return None
        except (sqlite3.Error, OSError) as error:
            self._tell(error)
            return None
        if found is None:
            return None
        if time.time() - found.used > _TOUCH_SECONDS:
            touch = asyncio.create_task(self._quietly(lambda: self._writing.touch(key)))
            self._touches.add(touch)
            touch.add_done_callback(self._touches.discard)
        return found.entry

    async def save(self, key: str, entry: CacheEntry, keep_until: float) -> None:
        """Store an entry, unless it is too large for the cache."""

        def write() -> None:
            record = encode(entry)
            if len(record) <= self._most_bytes // _SHARE:
                self._writing.save(key, record, keep_until)

        await self._quietly(write)

    async def remove(self, key: str) -> None:
        """Delete the entry of a key."""
        await self._quietly(lambda: self._writing.remove(key))

    async def usage(self) -> CacheUsage:
        """Return the numbers of entries and bytes; raises `CacheError` when the file cannot be read."""
        if not self._place.exists():
            return CacheUsage(str(self._place), 0, 0, self._most_bytes)
        used = await self._explained(self._writing.usage)
        return CacheUsage(str(self._place), used.entries, used.bytes, self._most_bytes)

    async def clear(self) -> int:
        """Delete all entries; raises `CacheError` when the file cannot be written."""
        return await self._explained(self._writing.clear) if self._place.exists() else 0

    async def close(self) -> None:
        """Finish pending writes, and close the file."""
        await asyncio.gather(*self._touches)
        for thread, database in ((self._reader, self._reading), (self._writer, self._writing)):
            await self._run(thread, database.close)
            thread.shutdown()

    def _read(self, key: str) -> _FoundEntry | None:
        loaded = self._reading.load(key)
        entry = decode(loaded.record, self._entry_bytes) if loaded else None
        return _FoundEntry(entry, loaded.used) if loaded and entry else None

    async def _run(self, thread: ThreadPoolExecutor, action: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, copy_context().run, action)

    async def _quietly(self, action: Callable[[], None]) -> None:
        try:
            await self._run(self._writer, action)
        except (sqlite3.Error, OSError) as error:
            self._tell(error)

    async def _explained(self, action: Callable[[], T]) -> T:
        try:
            return await self._run(self._writer, action)
        except (sqlite3.Error, OSError) as error:
            raise CacheError(
                f"The cache of web pages {self._place} cannot be used: {error}.",
                f"Check the free space and the rights of {self._place.parent}, or delete it.",
            ) from error

    def _tell(self, error: Exception) -> None:
        if not self._failed:
            self._failed = True
            self._warn(
                f"The cache of web pages {self._place} cannot be used: {error}. Pages are fetched again."
            )
