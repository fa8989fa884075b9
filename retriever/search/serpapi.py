"""Google, through SerpApi."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.core.errors import ServiceAnswerError, ServiceError, ServiceKeyRefusedError, ServiceQuotaError
from citewell.core.types import Hit
from citewell.retriever.search.api import Refusal, SearchHttp, Service
from citewell.retriever.search.google import google_country, google_language
from citewell.retriever.search.keys import KEYS
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Operators, Query
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages

URL = "https://serpapi.com/search.json"

_SIZE = 10  # results per page; since September 2025 Google has no larger pages
_OPERATORS = Operators(characters=2000, words=32)
_NOTHING = "hasn't returned any results"


class SerpApiProvider:
    """Client of SerpApi's Google Search API (https://serpapi.com/search-api)."""

    name = "serpapi"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, url: str = URL) -> None:
        """Search with an API key; `url` is the endpoint."""
        self._http = http
        self._key = key
        self._service = Service(
            "SerpApi",
            url,
            {
                ServiceKeyRefusedError: "Check the key at https://serpapi.com/manage-api-key",
                ServiceQuotaError: "The plan's quota is used up: see https://serpapi.com/dashboard",
            },
            (key,),
            _classify,
        )

    def notices(self, query: Query) -> list[str]:
        """Report a truncated query; all filters are supported."""
        return list(_OPERATORS.shortened(self.name, query))

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        if not self._key:
            raise KEYS[self.name].missing(self.name, self._key)
        params = {
            "engine": "google",
            "q": _OPERATORS.apply(query),
            "api_key": self._key,
            **dict(_filters(query)),
        }

        async def ask(number: int) -> ResultPage:
            start = {"start": str(number * _SIZE)} if number else {}
            answer = await self._http.ask(self._service, params | start)
            # Errors, and "nothing found", also arrive with status 200, in the same field.
            error = str(answer.get("error") or "")
            if _NOTHING in error:
                return ResultPage([], more=False)
            if error:
                kind = _classify(Refusal(200, {}, answer, error)) or ServiceAnswerError
                raise self._service.error(kind, f"SerpApi answered: {error[:200]}")
            if "search_metadata" not in answer:
                listed(self._service, None)
            results = listed(self._service, answer.get("organic_results", []))
            hits = read_hits(self.name, results, "link", "title", "snippet")
            pagination = answer.get("serpapi_pagination") or {}
            return ResultPage(hits, "next" in pagination)

        return await read_pages(query.limit, _SIZE, ask)


def _filters(query: Query) -> Iterator[tuple[str, str]]:
    if query.language:
        yield "hl", google_language(query)
        yield "lr", f"lang_{google_language(query)}"
    if query.region:
        yield "gl", google_country(query)
    if query.recency:
        yield "tbs", f"qdr:{query.recency[0]}"


def _classify(refusal: Refusal) -> type[ServiceError] | None:
    """Distinguish a used-up quota from too many searches per hour: both are 429, only the text differs."""
    text = refusal.explanation.lower()
    if "run out of searches" in text or "searches for the month" in text:
        return ServiceQuotaError
    return ServiceKeyRefusedError if "invalid api key" in text or refusal.status == 403 else None
