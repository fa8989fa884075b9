"""Services compatible with the Bing Web Search API, version 7."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from urllib.parse import urlsplit

from citewell.core.errors import ServiceError, ServiceKeyRefusedError, ServiceQuotaError
from citewell.core.types import Hit
from citewell.retriever.search.api import Refusal, SearchHttp, Service
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages, section

_SIZE = 50  # max results per page
_OPERATORS = Operators(characters=1500, words=300)


class BingProvider:
    """Client of Web Search API v7 (https://learn.microsoft.com/bing/search-apis/bing-web-search/reference/endpoints).

    Microsoft closed its own service in August 2025; other services and private gateways use its format.
    """

    name = "bing"
    scope: Scope = "web"

    def __init__(
        self,
        http: SearchHttp,
        endpoint: str,
        key: str = "",
        *,
        today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    ) -> None:
        """Search at `endpoint`: a URL with a path, or a host to which `/v7.0/search` is added."""
        self._http = http
        self._key = key
        self._today = today
        bare = urlsplit(endpoint).path in ("", "/")
        self._service = Service(
            "The Bing endpoint",
            endpoint.rstrip("/") + "/v7.0/search" if bare else endpoint,
            {
                ServiceKeyRefusedError: "Set BING_SEARCH_V7_SUBSCRIPTION_KEY or search.bing_key to a valid "
                "API key.",
                ServiceQuotaError: "The plan's quota is used up: wait, or use another search provider.",
            },
            (key,),
            _classify,
        )

    def notices(self, query: Query) -> list[str]:
        """Report a market without both language and country, and a truncated query."""
        both = query.language and query.region
        missing = frozenset() if both else query.filters & {Filter.LANGUAGE, Filter.COUNTRY}
        notices = [*cannot(self.name, missing), *_OPERATORS.shortened(self.name, query)]
        if missing:
            notices[0] += " Give both language and country, such as --language de --country DE."
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        size = min(query.limit, _SIZE)
        params = {
            "q": _OPERATORS.apply(query),
            "count": str(size),
            "responseFilter": "Webpages",
            **dict(self._filters(query)),
        }
        headers = {"Ocp-Apim-Subscription-Key": self._key} if self._key else {}

        async def ask(number: int) -> ResultPage:
            offset = {"offset": str(number * size)}
            answer = await self._http.ask(self._service, params | offset, headers=headers)
            pages = section(self._service, answer, "webPages", "_type")
            results = listed(self._service, pages.get("value", []))
            return ResultPage(read_hits(self.name, results, "url", "name", "snippet"), more=True)

        return await read_pages(query.limit, size, ask)

    def _filters(self, query: Query) -> Iterator[tuple[str, str]]:
        if query.language and query.region:
            yield "mkt", f"{query.primary_language}-{query.region}"
        if query.recency == "year":
            today = self._today()
            yield "freshness", f"{today - timedelta(days=365)}..{today}"
        elif query.recency:
            yield "freshness", query.recency.capitalize()


def _classify(refusal: Refusal) -> type[ServiceError] | None:
    """Return the meaning of a 403: a used-up quota or a key without permission."""
    if refusal.status != 403:
        return None
    return ServiceQuotaError if "quota" in refusal.explanation.lower() else ServiceKeyRefusedError
