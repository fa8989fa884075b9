"""Search with Tavily, a search service for programs that write answers."""

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

URL = "https://api.tavily.com/search"

_MOST = 20  # results
_MOST_SITES = 300
_MOST_EXCLUDED = 150
_LIMITS = Operators(characters=400, words=400)


class TavilyProvider:
    """Speaks the Tavily Search API (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

    name = "tavily"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, url: str = URL) -> None:
        """Search with an API key; `url` is that of the search itself."""
        self._http = http
        self._key = key
        self._service = Service(
            "Tavily",
            url,
            {
                ServiceKeyRefusedError: "Check the key at https://app.tavily.com",
                ServiceRateError: "Too many searches a minute: wait a moment.",
                ServiceQuotaError: "The plan's credits are spent: see https://app.tavily.com",
            },
            (key,),
            _judge,
        )

    def notices(self, query: Query) -> list[str]:
        """Say that languages cannot be chosen, and when the query or the number of hits was cut."""
        missing = {Filter.LANGUAGE} & query.filters
        if query.country and query.region not in COUNTRIES:
            missing |= {Filter.COUNTRY}
        notices = [*cannot(self.name, missing), *_LIMITS.shortened(self.name, query)]
        if query.limit > _MOST:
            notices.append(f"{self.name} gives at most {_MOST} hits.")
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first; raise a `ServiceError` when there is no answer."""
        if not self._key:
            raise KEYS[self.name].missing(self.name, self._key)
        body: dict[str, Any] = {
            "query": clip(query.text, _LIMITS.characters, _LIMITS.words),
            "max_results": min(query.limit, _MOST),
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
        yield "include_domains", list(query.sites[:_MOST_SITES])
    if query.exclude_sites:
        yield "exclude_domains", list(query.exclude_sites[:_MOST_EXCLUDED])


def _judge(refusal: Refusal) -> type[ServiceError] | None:
    """Tavily's own statuses: 432 for the plan's limit, 433 for that of pay-as-you-go."""
    return ServiceQuotaError if refusal.status in (432, 433) else None
