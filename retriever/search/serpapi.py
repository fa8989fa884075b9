"""Search with Google through SerpApi."""

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

_SIZE = 10  # Google's pages; it has no larger ones since September 2025
_OPERATORS = Operators(characters=2000, words=32)
_NOTHING = "hasn't returned any results"


class SerpApiProvider:
    """Speaks SerpApi's Google Search API (https://serpapi.com/search-api)."""

    name = "serpapi"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, url: str = URL) -> None:
        """Search with an API key; `url` is that of the search itself."""
        self._http = http
        self._key = key
        self._service = Service(
            "SerpApi",
            url,
            {
                ServiceKeyRefusedError: "Check the key at https://serpapi.com/manage-api-key",
                ServiceQuotaError: "The plan's searches are spent: see https://serpapi.com/dashboard",
            },
            (key,),
            _judge,
        )

    def notices(self, query: Query) -> list[str]:
        """Say when the query was cut; every filter has a parameter or an operator."""
        return list(_OPERATORS.shortened(self.name, query))

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first; raise a `ServiceError` when there is no answer."""
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
            # Errors also come with status 200, and so does "nothing found", in the same field.
            error = str(answer.get("error") or "")
            if _NOTHING in error:
                return ResultPage([], more=False)
            if error:
                kind = _judge(Refusal(200, {}, answer, error)) or ServiceAnswerError
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


def _judge(refusal: Refusal) -> type[ServiceError] | None:
    """Tell spent searches from too many an hour: both are 429, and only the text differs."""
    told = refusal.told.lower()
    if "run out of searches" in told or "searches for the month" in told:
        return ServiceQuotaError
    return ServiceKeyRefusedError if "invalid api key" in told or refusal.status == 403 else None
