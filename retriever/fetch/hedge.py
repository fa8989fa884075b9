"""One second request for a page that is slow, or that failed for the moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import urlsplit

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download, HttpStatusError

_PASSING = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT})
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})

Get = Callable[[str], Coroutine[Any, Any, Download]]
"""Fetches one URL or raises `FetchError`."""


class Fetch(Protocol):
    """Fetches one URL or raises `FetchError`: `HttpFetcher.get`."""

    def __call__(
        self, url: str, *, hedge: bool = False, on_body: Callable[[], None] | None = None
    ) -> Coroutine[Any, Any, Download]:
        """Fetch `url`.

        `hedge` says that this is a second request, which must not join one that is under way, and `on_body`
        is called when a body begins to arrive.
        """
        ...


@dataclass(eq=False, slots=True)
class _Try:
    """A request under way."""

    task: asyncio.Task[Download]
    receiving: bool = False


class HedgedGet:
    """Fetches the pages of one question, with a second request for some; speaks `Get`.

    A page whose body has not begun to arrive after `after` seconds is asked for once more, the first answer
    wins, and the other request is cancelled: the hedged request of Dean and Barroso, The Tail at Scale, 2013
    (https://doi.org/10.1145/2408776.2408794). A request that breaks off before its answer begins, or that is
    answered with 502, 503 or 504, is repeated as well. A page is asked for twice at most, so are `most` pages
    of a question, and hosts that answered 429 or 503 get no hedged request.
    """

    def __init__(self, fetch: Fetch, *, after: float | None, most: int) -> None:
        """Fetch with `fetch`; `after` is in seconds, and with `most` = 0 nothing is asked for twice.

        With None for `after`, no page is too slow, and only failures are repeated.
        """
        self._fetch = fetch
        self._after = after
        self._left = most
        self._busy: set[str] = set()

    async def __call__(self, url: str) -> Download:
        """Fetch `url`; raises the `FetchError` of the first request when none succeeds."""
        first = self._start(url, hedge=False)
        tries = [first]
        try:
            await asyncio.wait([first.task], timeout=self._after)
            if self._worth_another(url, first):
                self._left -= 1
                tries.append(self._start(url, hedge=True))
            return await self._winner(url, tries)
        finally:
            for attempt in tries:
                attempt.task.cancel()
            await asyncio.gather(*(attempt.task for attempt in tries), return_exceptions=True)

    def _start(self, url: str, *, hedge: bool) -> _Try:
        attempt: _Try

        def on_body() -> None:
            attempt.receiving = True

        attempt = _Try(asyncio.create_task(self._fetch(url, hedge=hedge, on_body=on_body)))
        return attempt

    def _worth_another(self, url: str, first: _Try) -> bool:
        if self._left < 1:
            return False
        if not first.task.done():
            return not first.receiving and urlsplit(url).netloc not in self._busy
        error = self._error(url, first.task)
        return error is not None and _passing(error)

    async def _winner(self, url: str, tries: list[_Try]) -> Download:
        first, pending = tries[0].task, {attempt.task for attempt in tries}
        while pending:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = self._error(url, task)
                if error is None:
                    return task.result()
                # The failure of a second request proves nothing: our own politeness may have refused it.
                if task is first and not _passing(error):
                    raise error
        return first.result()

    def _error(self, url: str, task: asyncio.Task[Download]) -> BaseException | None:
        error = task.exception()
        if isinstance(error, HttpStatusError) and error.status in _BUSY:
            self._busy.add(urlsplit(url).netloc)
        return error


def _passing(error: BaseException) -> bool:
    """Say whether a second request may go better; what is no `FetchError` is a fault of the program."""
    if isinstance(error, HttpStatusError):
        return error.status in _PASSING
    return isinstance(error, FetchError) and error.kind == "connect"
