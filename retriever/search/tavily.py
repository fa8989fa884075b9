"""Tavily, a search service for language models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citewell.core.errors import ServiceError, ServiceKeyRefusedError, ServiceQuotaError, ServiceRateError
from citewell.core.types import Hit
from citewell.retriever.search.api import Refusal, SearchHttp, Service
from citewell.retriever.search.countries import COUNTRIES
from citewell.retriever.search.keys import KEYS
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot, clip
from citewell.retriever.search.results import listed, read_hits
from citewell.retriever.search.words import spoken

URL = "https://api.tavily.com/search"

_MAX_RESULTS = 20
_MAX_SITES = 300
_MAX_EXCLUDED = 150
_LIMITS = Operators(characters=400, words=400)


class TavilyProvider:
    """Client of the Tavily Search API (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

    name = "tavily"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, url: str = URL) -> None:
        """Search with an API key; `url` is the endpoint."""
        self._http = http
        self._key = key
        self._service = Service(
            "Tavily",
            url,
            {
                ServiceKeyRefusedError: "Check the key at https://app.tavily.com",
                ServiceRateError: "Too many searches per minute: wait a moment.",
                ServiceQuotaError: "The plan's credits are used up: see https://app.tavily.com",
            },
            (key,),
            _classify,
        )

    def notices(self, query: Query) -> list[str]:
        """Report a language, which Tavily ignores, an unknown country, and a truncated query or limit."""
        missing = {Filter.LANGUAGE} & query.filters
        if query.country and query.region not in COUNTRIES:
            missing |= {Filter.COUNTRY}
        notices = [*cannot(self.name, missing), *_LIMITS.shortened(self.name, query)]
        if query.limit > _MAX_RESULTS:
            notices.append(f"{spoken(self.name)} returns at most {_MAX_RESULTS} hits.")
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        if not self._key:
            raise KEYS[self.name].missing(self.name, self._key)
        body: dict[str, Any] = {
            "query": clip(query.text, _LIMITS.characters, _LIMITS.words),
            "max_results": min(query.limit, _MAX_RESULTS),
            **dict(_filters(query)),
        }
        headers = {"Authorization": f"Bearer {self._key}"}
        answer = await self._http.ask(self._service, headers=headers, post=body)
        results = listed(self._service, answer.get("results"))
        return read_hits(self.name, results, "url", "title", "content")[: query.limit]


def _filters(query: Query) -> Iterator[tuple[str, Any]]:
    if query.country and (country := COUNTRIES.get(query.region, "")):
        yield "topic", "general"
        yield "country", country
    if query.recency:
        yield "time_range", query.recency
    if query.sites:
        yield "include_domains", list(query.sites[:_MAX_SITES])
    if query.exclude_sites:
        yield "exclude_domains", list(query.exclude_sites[:_MAX_EXCLUDED])


def _classify(refusal: Refusal) -> type[ServiceError] | None:
    """Tavily's own statuses: 432 for the plan's limit, 433 for the pay-as-you-go limit."""
    return ServiceQuotaError if refusal.status in (432, 433) else None
