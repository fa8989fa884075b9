"""Searches with several providers in parallel and fuses their hits."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from citewell.core.errors import (
    CitewellError,
    ServiceError,
    ServiceLateError,
    ServiceOfflineError,
    ServiceUnreachableError,
)
from citewell.core.types import Failure, Hit
from citewell.retriever.search.breaker import Breaker
from citewell.retriever.search.fusion import fuse, within_sites
from citewell.retriever.search.provider import SearchProvider
from citewell.retriever.search.query import Query
from citewell.retriever.search.words import spoken

_BACKSTOP = 0.5  # seconds after which a provider that exceeds its own limit is cancelled


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The fused hits of all providers, and what went wrong.

    `timings` are the seconds that each provider took, by name.
    """

    hits: tuple[Hit, ...]
    failures: tuple[Failure, ...] = ()
    notices: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """The limits of one search.

    Each provider gets `seconds`. Once a non-local one has found something, the others get a tenth of
    that. At most `per_domain` hits come from one registrable domain, if there are enough others.
    """

    seconds: float = 10.0
    per_domain: int = 3

    @property
    def grace(self) -> float:
        """Seconds for the other providers after one has found something."""
        return self.seconds / 10


class Metasearch:
    """A search of all its providers concurrently, with a circuit breaker for each."""

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        limits: SearchLimits = SearchLimits(),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Search with `providers`, in order of preference; `clock` is for tests."""
        self._providers = tuple(providers)
        self._limits = limits
        # One per language: those of Wikipedia have hosts of their own, of which some do not exist.
        self._breakers: list[defaultdict[str, Breaker]] = [
            defaultdict(lambda: Breaker(clock=clock)) for _ in self._providers
        ]

    @property
    def name(self) -> str:
        """The names of the providers."""
        return ", ".join(provider.name for provider in self._providers)

    @property
    def finds_web_pages(self) -> bool:
        """Whether any provider finds pages that are not stored locally."""
        return any(provider.scope != "local" for provider in self._providers)

    async def search(self, query: Query, *others: Query) -> SearchResult:
        """Return the fused hits of all providers that answered, at most `query.limit`.

        `others` are further queries of the same question, whose hits count as much. Finding nothing is not
        an error; a notice reports it. Raises `ServiceError` if all providers fail, or the error of the only
        provider.
        """
        timings: dict[str, float] = {}
        queries = (query, *others)
        asked = await asyncio.gather(*(self._ask(one, timings) for one in queries))
        of_provider = list(zip(*asked, strict=True))
        errors = [next((o for o in found if isinstance(o, CitewellError)), None) for found in of_provider]
        if all(isinstance(outcome, CitewellError) for found in of_provider for outcome in found):
            raise _failed(self._providers, [error for error in errors if error])
        notices = [n for provider in self._providers for one in queries for n in provider.notices(one)]
        failures = []
        lists = []
        for provider, found, error in zip(self._providers, of_provider, errors, strict=True):
            if error:
                failures.append(Failure(provider.name, str(error), getattr(error, "kind", "search")))
            answered = [outcome for outcome in found if not isinstance(outcome, CitewellError)]
            kept = [within_sites(hits, query) for hits in answered]
            if answered and not any(kept):
                where = " on the requested sites" if any(answered) else ""
                notices.append(f"{spoken(provider.name)} found nothing{where}.")
            lists += [(provider, hits) for hits in kept]
        hits = fuse(lists, query, self._limits.per_domain * len(queries))
        return SearchResult(tuple(hits), tuple(failures), tuple(dict.fromkeys(notices)), timings)

    async def _ask(self, query: Query, timings: dict[str, float]) -> list[list[Hit] | CitewellError]:
        """Return the hits or the error of each provider, in order."""
        tasks = [
            asyncio.create_task(self._search(provider, breakers[query.language], query, timings))
            for provider, breakers in zip(self._providers, self._breakers, strict=True)
        ]
        scopes = dict(zip(tasks, (provider.scope for provider in self._providers), strict=True))
        waiting = set(tasks)
        seconds: float | None = None
        try:
            while waiting:
                began = time.monotonic()
                done, waiting = await asyncio.wait(
                    waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    break
                if seconds is not None:
                    seconds = max(seconds - (time.monotonic() - began), 0.0)
                elif any(scopes[task] != "local" and _found(task.result()) for task in done):
                    seconds = self._limits.grace
            late = ServiceLateError(
                f"late: another provider answered {self._limits.grace:g} s earlier.",
                "Raise search.seconds to wait longer: a tenth of it.",
            )
            return [late if task in waiting else task.result() for task in tasks]
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _search(
        self, provider: SearchProvider, breaker: Breaker, query: Query, timings: dict[str, float]
    ) -> list[Hit] | CitewellError:
        started = time.perf_counter()
        try:
            with breaker.search(provider.name):
                try:
                    async with asyncio.timeout(self._limits.seconds + _BACKSTOP):
                        return await provider.search(query)
                except TimeoutError:
                    message = f"{spoken(provider.name)} did not respond within {self._limits.seconds:g} s."
                    raise ServiceUnreachableError(message, "Raise search.seconds to wait longer.") from None
        except CitewellError as error:
            return error
        finally:
            seconds = round(time.perf_counter() - started, 4)
            timings[provider.name] = max(seconds, timings.get(provider.name, 0.0))


def _found(outcome: list[Hit] | CitewellError) -> bool:
    return isinstance(outcome, list) and bool(outcome)


def _failed(providers: Sequence[SearchProvider], errors: Sequence[CitewellError]) -> CitewellError:
    """Return the error of a search in which all providers failed."""
    if len(errors) == 1:
        return errors[0]
    offline = [error for error in errors if isinstance(error, ServiceOfflineError)]
    if len(offline) == len(errors):
        return ServiceOfflineError(*dict.fromkeys(name for error in offline for name in error.names))
    reasons = " ".join(
        f"{provider.name}: {error.message}" for provider, error in zip(providers, errors, strict=True)
    )
    return ServiceError(f"All search providers failed. {reasons}", errors[0].hint)
