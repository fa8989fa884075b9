"""The cache that several computers share, in Redis or Valkey."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from yarl import URL

from citewell.core.errors import SettingsError
from citewell.retriever.fetch.cache.entry import CacheEntry, DamagedEntryError, decode, encode
from citewell.retriever.fetch.cache.store import CacheError, CacheUsage

T = TypeVar("T")

_PREFIX = "citewell:page:"
_LOAD_SECONDS = 0.1  # a cache that is slower than this costs more than it saves
_SAVE_SECONDS = 0.5
_LOOK_SECONDS = 30.0  # for counting and emptying, which walk through all keys
_REST_SECONDS = 30.0  # a server that failed is left alone for so long
_CONNECTIONS = 32
_MOST_RECORD_BYTES = 2_000_000
_BATCH = 500


class RedisStore:
    """A `Store` in the Redis or Valkey server at `url`, such as `redis://:password@host:6379/0`.

    A server that fails or is slow delays one request by 0.1 s; after that pages are fetched without it for
    half a minute, and `warn` is told once. How much the server holds is its own setting (`maxmemory`, with
    `maxmemory-policy allkeys-lru`); entries leave by themselves when they are of no more use, and none is
    larger than 2 MB. Entries with a body of more than `entry_bytes` are not given out.
    """

    def __init__(self, url: str, entry_bytes: int, warn: Callable[[str], None]) -> None:
        """Raises `SettingsError` for a URL that is not understood; connects when it is used."""
        try:
            pool = BlockingConnectionPool.from_url(
                url,
                max_connections=_CONNECTIONS,
                timeout=_SAVE_SECONDS,
                socket_connect_timeout=_LOAD_SECONDS,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError as error:
            raise SettingsError(
                f"The setting fetch.cache_url is wrong: {error}.", "Write redis://host:6379/0, for example."
            ) from None
        self._place = _without_password(url)
        self._redis = Redis.from_pool(pool)
        self._entry_bytes = entry_bytes
        self._warn = warn
        self._rest_until = 0.0
        self._codec = ThreadPoolExecutor(1, "cache-codec")

    async def load(self, key: str) -> CacheEntry | None:
        """Return the entry of a key, or None; a damaged one is forgotten."""
        record = await self._quietly(lambda: self._redis.get(_PREFIX + key), _LOAD_SECONDS)
        if not isinstance(record, bytes):
            return None
        try:
            return await self._in_thread(lambda: decode(record, self._entry_bytes))
        except DamagedEntryError as error:
            self._warn(f"An entry of the cache at {self._place} was damaged ({error}). It is dropped.")
            await self.remove(key)
            return None

    async def save(self, key: str, entry: CacheEntry, keep_until: float) -> None:
        """Keep an entry until `keep_until`, unless it is larger than 2 MB."""
        milliseconds = int((keep_until - time.time()) * 1000)
        record = await self._in_thread(lambda: encode(entry))
        if milliseconds > 0 and len(record) <= _MOST_RECORD_BYTES:
            await self._quietly(
                lambda: self._redis.set(_PREFIX + key, record, px=milliseconds), _SAVE_SECONDS
            )

    async def remove(self, key: str) -> None:
        """Forget the entry of a key."""
        await self._quietly(lambda: self._redis.unlink(_PREFIX + key), _SAVE_SECONDS)

    async def usage(self) -> CacheUsage:
        """Say what there is; raises `CacheError` when the server does not."""
        return await self._explained(self._usage)

    async def clear(self) -> int:
        """Forget all entries of Citewell, and no others; raises `CacheError` when the server fails."""
        return await self._explained(self._clear)

    async def close(self) -> None:
        """Close the connections."""
        await self._redis.aclose()
        self._codec.shutdown()

    async def _usage(self) -> CacheUsage:
        keys, size = 0, 0
        async for batch in self._batches():
            keys += len(batch)
            pipe = self._redis.pipeline(transaction=False)
            for key in batch:
                pipe.strlen(key)
            size += sum(await pipe.execute())
        return CacheUsage(self._place, keys, size, 0)

    async def _clear(self) -> int:
        count = 0
        async for batch in self._batches():
            count += await self._redis.unlink(*batch)
        return count

    async def _batches(self) -> AsyncIterator[list[bytes | str]]:
        cursor, is_first = 0, True
        while cursor or is_first:
            cursor, batch = await self._redis.scan(cursor, match=f"{_PREFIX}*", count=_BATCH)
            is_first = False
            if batch:
                yield batch

    async def _in_thread(self, action: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._codec, action)

    async def _quietly(self, action: Callable[[], Awaitable[T]], seconds: float) -> T | None:
        if time.monotonic() < self._rest_until:
            return None
        try:
            async with asyncio.timeout(seconds):
                return await action()
        except (RedisError, OSError, TimeoutError) as error:
            if time.monotonic() >= self._rest_until:
                reason = str(error).rstrip(".") or f"it did not answer within {seconds:g} s"
                self._warn(f"The cache at {self._place} cannot be used: {reason}. Pages are fetched anew.")
            self._rest_until = time.monotonic() + _REST_SECONDS
            return None

    async def _explained(self, action: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                return await action()
        except (RedisError, OSError, TimeoutError) as error:
            reason = str(error).rstrip(".") or f"it did not answer within {_LOOK_SECONDS:g} s"
            raise CacheError(
                f"The cache at {self._place} cannot be used: {reason}.",
                "Check that the server of fetch.cache_url runs and lets you in.",
            ) from error


def _without_password(url: str) -> str:
    return str(URL(url).with_user(None)) if URL(url).host else url.partition("?")[0]
