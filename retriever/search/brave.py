"""Brave Search, which has its own index of the web."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from citewell.core.errors import ServiceError, ServiceKeyRefusedError, ServiceQuotaError, ServiceRateError
from citewell.core.http_time import delta_seconds, retry_after
from citewell.core.types import Hit
from citewell.retriever.search.api import Refusal, SearchHttp, Service
from citewell.retriever.search.keys import KEYS
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages, section

URL = "https://api.search.brave.com/res/v1/web/search"

_SIZE = 20  # max results per page
_PAGES = 10
_OPERATORS = Operators(characters=400, words=50)
_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_LANGUAGES = frozenset(
    "ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr "  # noqa: SIM905
    "sk sl es sv ta te th tr uk vi".split()
)
_COUNTRIES = frozenset(
    "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR "  # noqa: SIM905
    "GB US".split()
)


class BraveProvider:
    """Client of the Brave Search API (https://api-dashboard.search.brave.com/api-reference/web/search/get)."""

    name = "brave"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, key: str, url: str = URL) -> None:
        """Search with an API key; `url` is the endpoint of the web search."""
        self._http = http
        self._key = key
        self._service = Service(
            "Brave",
            url,
            {
                ServiceKeyRefusedError: "Check the key: it must belong to a plan for web search.",
                ServiceRateError: "Free plans allow one search per second: wait a moment.",
                ServiceQuotaError: "The plan's quota is used up: see https://api-dashboard.search.brave.com",
            },
            (key,),
            _classify,
            _wait,
        )

    def notices(self, query: Query) -> list[str]:
        """Report languages and countries that Brave does not support, and a truncated query."""
        missing = set()
        if query.language and not _language(query):
            missing.add(Filter.LANGUAGE)
        if query.country and query.region not in _COUNTRIES:
            missing.add(Filter.COUNTRY)
        return [*cannot(self.name, missing), *_OPERATORS.shortened(self.name, query)]

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        if not self._key:
            raise KEYS[self.name].missing(self.name, self._key)
        size = min(query.limit, _SIZE)
        params = {
            "q": _OPERATORS.apply(query),
            "count": str(size),
            "text_decorations": "false",
            "result_filter": "web",
            **dict(_filters(query)),
        }
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}

        async def ask(number: int) -> ResultPage:
            page = params | {"offset": str(number)}
            answer = await self._http.ask(self._service, page, headers=headers)
            web = section(self._service, answer, "web", "type")
            hits = read_hits(
                self.name, listed(self._service, web.get("results", [])), "url", "title", "description"
            )
            more = (answer.get("query") or {}).get("more_results_available", True)
            return ResultPage(hits, bool(more))

        return await read_pages(query.limit, size, ask, _PAGES)


def _filters(query: Query) -> Iterator[tuple[str, str]]:
    if language := _language(query):
        yield "search_lang", language
    if query.region in _COUNTRIES:
        yield "country", query.region
    elif query.language:
        yield "country", "ALL"  # the default is US
    if query.recency:
        yield "freshness", _FRESHNESS[query.recency]


def _language(query: Query) -> str:
    """Brave's code of the language; empty if unsupported."""
    match query.primary_language:
        case "zh":
            return "zh-hant" if query.traditional_chinese else "zh-hans"
        case "ja":
            return "jp"
        case "no":
            return "nb"
        case "pt":
            return "pt-br" if query.region == "BR" else "pt-pt"
        case "en" if query.region == "GB":
            return "en-gb"
        case language if language in _LANGUAGES:
            return language
    return ""


def _classify(refusal: Refusal) -> type[ServiceError] | None:
    """Distinguish a bad key from a bad request: both are 422, and only the code in the body differs."""
    error = refusal.body.get("error")
    code = str(error.get("code", "")) if isinstance(error, dict) else ""
    if code.startswith("SUBSCRIPTION_"):
        return ServiceKeyRefusedError
    return ServiceQuotaError if code == "QUOTA_LIMITED" else None


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds until all windows of the rate limit have reset.

    Instead of Retry-After, Brave sends lists of windows, such as `X-RateLimit-Remaining: 0, 1000` with
    `X-RateLimit-Reset: 1, 1419704`.
    """
    left, resets = (
        [part.strip() for part in headers.get(f"X-RateLimit-{name}", "").split(",")]
        for name in ("Remaining", "Reset")
    )
    waits = [
        float(seconds)
        for remaining, reset in zip(left, resets, strict=False)
        if remaining == "0" and (seconds := delta_seconds(reset)) is not None
    ]
    return max(waits) if waits else retry_after(headers)
