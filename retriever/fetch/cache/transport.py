"""The cache as a transport around another: fresh answers are reused, the others are validated."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Self

from citewell.core.errors import FetchError
from citewell.retriever.fetch.cache.entry import CacheEntry, cut
from citewell.retriever.fetch.cache.flights import Flights
from citewell.retriever.fetch.cache.policy import CachePolicy, renewed, suits, validators
from citewell.retriever.fetch.cache.store import CacheStore
from citewell.retriever.fetch.content import SNIFF_BYTES
from citewell.retriever.fetch.download import ContentTypeError
from citewell.retriever.fetch.network import PAGE_STATUSES
from citewell.retriever.fetch.transport import Request, Response, Source, Transport

# The server fails, or cannot be reached. An invalid certificate and an address that the guard refuses do not
# count: the page may not be the same.
_FAILURES = frozenset({"connect", "dns", "malformed", "proxy", "rate_limited", "timeout"})
_NOT_MODIFIED = 304
_TOO_MANY = 429
_SERVER_ERROR = 500
_MOST_UNSAVED_BYTES = 32_000_000
_CLOSING_SECONDS = 5.0
_LOADS = 4  # at a time: how much memory an entry needs is known only once it is there


class CachingTransport:
    """A `Transport` that keeps answers in `store` and uses them as RFC 9111 allows; see `CachePolicy`.

    `scope` identifies what an answer depends on besides the request, such as the allowed networks: an entry
    is only used in the scope in which it was stored, so the cache never answers for a page that may no longer
    be fetched. Equal requests share one answer while it is under way. Answers are stored in the background;
    where the store cannot keep up, some are not stored.

    `clock` gives seconds since the epoch. Use it as an async context manager.
    """

    def __init__(
        self,
        transport: Transport,
        store: CacheStore,
        policy: CachePolicy,
        *,
        scope: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._transport = transport
        self._store = store
        self._policy = policy
        self._scope = scope
        self._clock = clock
        self._flights: Flights[Response] = Flights()
        self._saves: set[asyncio.Task[None]] = set()
        self._unsaved_bytes = 0
        self._loads = asyncio.Semaphore(_LOADS)

    async def send(self, request: Request) -> Response:
        """Answer `request`; raises `FetchError` as the transport does, if no entry can replace the answer."""
        if request.is_hedge:
            return await self._answer(request)
        leads = False

        def start() -> Coroutine[Any, Any, Response]:
            nonlocal leads
            leads = True
            return self._answer(request)

        same = (request.url, tuple(request.headers.items()), request.cut_at)
        try:
            response = await self._flights.join(same, start)
        except ContentTypeError:
            if leads:
                raise
            return await self._answer(request)  # the first caller may have requested something else
        return response if leads else _judged(response, request)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Finish pending writes within 5 s, and close the store."""
        await self._flights.close()
        if self._saves:
            await asyncio.wait(self._saves, timeout=_CLOSING_SECONDS)
        for save in self._saves:
            save.cancel()
        await self._store.close()

    async def _answer(self, request: Request) -> Response:
        key = self._key(request)
        entry = await self._load(key, request)
        if entry is None:
            return await self._ask(key, request)
        if self._policy.is_fresh(entry, self._clock()):
            return _response(entry, request, "cache")
        conditions = validators(entry)
        requested_at = self._clock()
        try:
            answer = await self._transport.send(
                replace(request, headers={**request.headers, **conditions}) if conditions else request
            )
        except FetchError as error:
            if error.kind in _FAILURES and (stale := await self._stale(key, request)):
                return stale
            raise
        failed = answer.status >= _SERVER_ERROR or answer.status == _TOO_MANY
        if failed and (stale := await self._stale(key, request)):
            return stale
        if answer.status != _NOT_MODIFIED or not conditions:
            if not self._keep(key, request, answer, requested_at) and not failed:
                self._later(self._store.remove(key), 0)  # it is out of date
            return answer
        whole = await self._load(key, request, outdated=True)
        news = renewed(whole, answer, requested_at, self._clock()) if whole else None
        if news is None:
            return await self._ask(key, request)
        self._save(key, news)
        return _response(news, request, "validated")

    async def _stale(self, key: str, request: Request) -> Response | None:
        """Return an answer from an expired entry, if it may be used because its server fails."""
        entry = await self._load(key, request, outdated=True)
        if entry is None or not self._policy.may_be_stale(entry, self._clock()):
            return None
        return _response(entry, request, "stale")

    async def _ask(self, key: str, request: Request) -> Response:
        requested_at = self._clock()
        answer = await self._transport.send(request)
        self._keep(key, request, answer, requested_at)
        return answer

    async def _load(self, key: str, request: Request, *, outdated: bool = False) -> CacheEntry | None:
        """Return the entry for a request.

        An expired entry comes without its body unless `outdated`. A page that is fetched again may
        need as much memory, and must not wait for it while it has some.
        """
        with request.lease.allocation() if request.lease else nullcontext() as memory:
            async with self._loads:
                entry = await self._store.load(key)
                # The key is a digest: an entry that another service stored under it may be for another
                # request.
                if entry is None or entry.url != str(request.url) or not suits(entry, request.headers):
                    return None
                entry = cut(entry, request.cut_at)
                if entry and not (outdated or self._policy.is_fresh(entry, self._clock())):
                    return replace(entry, body=b"")
                if memory and entry:
                    await memory.grow(len(entry.body))
                    memory.keep()
                return entry

    def _keep(self, key: str, request: Request, answer: Response, requested_at: float) -> bool:
        """Store an answer; returns False where that is not allowed."""
        entry = self._policy.entry(answer, request.headers, requested_at, self._clock())
        if entry is not None:
            self._save(key, entry)
        return entry is not None

    def _save(self, key: str, entry: CacheEntry) -> None:
        if self._unsaved_bytes + len(entry.body) <= _MOST_UNSAVED_BYTES:
            saving = self._store.save(key, entry, self._policy.keep_until(entry))
            self._later(saving, len(entry.body))

    def _later(self, work: Coroutine[Any, Any, None], size: int) -> None:
        def done(task: asyncio.Task[None]) -> None:
            self._unsaved_bytes -= size
            self._saves.discard(task)

        self._unsaved_bytes += size
        task = asyncio.create_task(work)
        self._saves.add(task)
        task.add_done_callback(done)

    def _key(self, request: Request) -> str:
        return hashlib.sha256(f"{self._scope}\n{request.url}".encode()).hexdigest()


def _response(entry: CacheEntry, request: Request, source: Source) -> Response:
    response = Response(
        entry.url,
        entry.status,
        entry.headers,
        entry.body,
        truncated=entry.truncated,
        source=source,
        received_at=entry.received_at,
    )
    return _judged(response, request)


def _judged(response: Response, request: Request) -> Response:
    """Return the response with its content type as `request` judges it; raises `ContentTypeError`."""
    if response.status not in PAGE_STATUSES:
        return response
    declared = response.headers.get("Content-Type", "")
    return replace(response, content_type=request.judge(declared, response.body[:SNIFF_BYTES]))
