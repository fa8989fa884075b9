"""Google, through a Programmable Search Engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from citewell.core.errors import ServiceError, ServiceKeyRefusedError, ServiceQuotaError
from citewell.core.types import Hit
from citewell.retriever.search.api import Refusal, SearchHttp, Service
from citewell.retriever.search.keys import KEYS
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Operators, Query
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages

URL = "https://www.googleapis.com/customsearch/v1"

_SIZE = 10  # max results per page; the API returns at most 100 in all
_OPERATORS = Operators(characters=2000, words=32)


class GoogleProvider:
    """Client of the Custom Search JSON API (https://developers.google.com/custom-search/v1/reference/rest).

    The search engine `engine` (`cx`) determines which sites are searched; its control panel can enable the
    whole web.
    """

    name = "google"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, engine: str, url: str = URL) -> None:
        """Search with an API key and the ID of a search engine; `url` is the endpoint."""
        self._http = http
        self._key = key
        self._engine = engine
        self._service = Service(
            "Google",
            url,
            {
                ServiceKeyRefusedError: "Check the key, and that the Custom Search API is enabled for its "
                "project: https://console.cloud.google.com/apis/credentials",
                ServiceQuotaError: "The quota of the day or minute is used up: wait, or raise the quota at "
                "https://console.cloud.google.com",
                400: "Check the ID of the search engine (GOOGLE_CSE_ID or search.google_engine).",
            },
            (key,),
            _classify,
        )

    def notices(self, query: Query) -> list[str]:
        """Report a truncated query; all filters are supported."""
        return list(_OPERATORS.shortened(self.name, query))

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        if not (self._key and self._engine):
            raise KEYS[self.name].missing(self.name, self._key, self._engine)
        params = {
            "key": self._key,
            "cx": self._engine,
            "num": str(min(query.limit, _SIZE)),
            **dict(_text(query)),
            **dict(_filters(query)),
        }

        async def ask(number: int) -> ResultPage:
            start = {"start": str(number * _SIZE + 1)} if number else {}
            answer = await self._http.ask(self._service, params | start)
            if "queries" not in answer and "kind" not in answer:
                listed(self._service, None)
            results = listed(self._service, answer.get("items", []))
            hits = read_hits(self.name, results, "link", "title", "snippet")
            return ResultPage(hits, "nextPage" in (answer.get("queries") or {}))

        return await read_pages(query.limit, _SIZE, ask)


def google_language(query: Query) -> str:
    """Google's code of the language, as in its `lr` parameter without `lang_`."""
    if query.primary_language == "zh":
        return "zh-TW" if query.traditional_chinese else "zh-CN"
    return {"nb": "no", "he": "iw"}.get(query.primary_language, query.primary_language)


def google_country(query: Query) -> str:
    """Google's code of the country, as in its `gl` parameter."""
    return {"GB": "uk"}.get(query.region, query.region.lower())


def _text(query: Query) -> Iterator[tuple[str, str]]:
    """Yield the query text; a single site is a parameter, several are operators."""
    if len(query.sites) == 1:
        yield "siteSearch", query.sites[0]
        yield "siteSearchFilter", "i"
        query = replace(query, sites=())
    yield "q", _OPERATORS.apply(query)


def _filters(query: Query) -> Iterator[tuple[str, str]]:
    if query.language:
        yield "lr", f"lang_{google_language(query)}"
    if query.region:
        yield "gl", google_country(query)
    if query.recency:
        yield "dateRestrict", f"{query.recency[0]}1"


def _classify(refusal: Refusal) -> type[ServiceError] | None:
    """Read the reasons: a bad key is a 400, and a used-up quota a 429 or, in the past, a 403."""
    error = refusal.body.get("error")
    reasons = str(error.get("details", "")) + str(error.get("errors", "")) if isinstance(error, dict) else ""
    if "API_KEY_INVALID" in reasons or "keyInvalid" in reasons:
        return ServiceKeyRefusedError
    if "per day" in refusal.explanation or "dailyLimitExceeded" in reasons:
        return ServiceQuotaError
    return ServiceKeyRefusedError if refusal.status == 403 else None
