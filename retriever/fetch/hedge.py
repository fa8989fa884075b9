"""A second request for a page that is slow or failed temporarily."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from http import HTTPStatus

from citewell.core.addresses import address_parts
from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download, HttpStatusError
from citewell.retriever.fetch.page_request import PageFetch, PageRequest

_TRANSIENT = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})


@dataclass(eq=False, slots=True)
class _Attempt:
    """A running request."""

    task: asyncio.Task[Download]
    receiving: bool = False


class HedgedFetch:
    """A fetcher of one question's pages, with a second request for some.

    A page whose body has not begun to arrive after `after` seconds is requested once more, the first answer
    wins, and the other request is cancelled: the hedged request of Dean and Barroso, The Tail at Scale, 2013
    (https://doi.org/10.1145/2408776.2408794). A request that breaks off before its answer begins, or that is
    answered with 502, 503 or 504, is repeated as well. A page is requested at most twice, so are at most
    `max_hedges` pages of a question, and hosts that answered 429 or 503 get no hedged request.
    """

    def __init__(self, fetch: PageFetch, *, after: float | None, max_hedges: int) -> None:
        """Fetch with `fetch`; with 0 for `max_hedges`, nothing is requested twice.

        With None for `after`, no page is too slow, and only failures are repeated.
        """
        self._fetch = fetch
        self._after = after
        self._left = max_hedges
        self._busy: set[str] = set()

    async def __call__(self, request: PageRequest) -> Download:
        """Fetch one page; raises the `FetchError` of the first request when none succeeds."""
        first = self._start(request)
        attempts = [first]
        try:
            await asyncio.wait([first.task], timeout=self._after)
            if self._deserves_another(request.url, first):
                self._left -= 1
                attempts.append(self._start(replace(request, is_hedge=True)))
            return await self._winner(request.url, attempts)
        finally:
            for attempt in attempts:
                attempt.task.cancel()
            await asyncio.gather(*(attempt.task for attempt in attempts), return_exceptions=True)

    def _start(self, request: PageRequest) -> _Attempt:
        attempt: _Attempt

        def on_body() -> None:
            attempt.receiving = True

        attempt = _Attempt(asyncio.create_task(self._attempt(replace(request, on_body=on_body))))
        return attempt

    async def _attempt(self, request: PageRequest) -> Download:
        return await self._fetch(request)

    def _deserves_another(self, url: str, first: _Attempt) -> bool:
        if self._left < 1:
            return False
        if not first.task.done():
            return not first.receiving and address_parts(url).netloc not in self._busy
        error = self._error(url, first.task)
        return error is not None and _is_transient(error)

    async def _winner(self, url: str, attempts: list[_Attempt]) -> Download:
        first, pending = attempts[0].task, {attempt.task for attempt in attempts}
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = self._error(url, task)
                if error is None:
                    return task.result()
                # The failure of a second request proves nothing: our own politeness may have refused it.
                if task is first and not _is_transient(error):
                    raise error
        return first.result()

    def _error(self, url: str, task: asyncio.Task[Download]) -> BaseException | None:
        error = task.exception()
        if isinstance(error, HttpStatusError) and error.status in _BUSY:
            self._busy.add(address_parts(url).netloc)
        return error


def _is_transient(error: BaseException) -> bool:
    """Return whether a second request may succeed; errors other than `FetchError` are our own faults."""
    if isinstance(error, HttpStatusError):
        return error.status in _TRANSIENT
    return isinstance(error, FetchError) and error.kind == "connect"
