"""SearXNG, a metasearch engine that needs no API key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citewell.core.errors import ServiceUnreachableError
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages

_SIZE = 10  # at least, since several engines contribute to a page
_OPERATORS = Operators()
_HINTS = {
    403: "Its JSON format is off: add `- json` under `search: formats:` in the "
    "instance's settings.yml and restart it.",
    429: "Its limiter takes Citewell for a bot: wait, allow your address in the instance's limiter.toml, or "
    "set `server: limiter: false` in the settings.yml of your own instance.",
}


class SearxngProvider:
    """Client of SearXNG's search API (https://docs.searxng.org/dev/search_api.html).

    `base_url` is the URL of the instance, such as `http://localhost:8888`.
    """

    name = "searxng"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, base_url: str) -> None:
        """Search with the instance at `base_url`."""
        self._http = http
        self._service = Service("SearXNG", base_url.rstrip("/") + "/search", _HINTS)

    def notices(self, query: Query) -> list[str]:
        """Report a country without a language, which SearXNG cannot express."""
        missing = query.filters & {Filter.COUNTRY} if not query.language else frozenset[Filter]()
        return list(cannot(self.name, missing))

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first.

        Raises `ServiceError` if the instance fails, or if all engines behind it do.
        """
        params = {"q": _OPERATORS.apply(query), "format": "json", **dict(_filters(query))}

        async def ask(number: int) -> ResultPage:
            page = {"pageno": str(number + 1)} if number else {}
            answer = await self._http.ask(self._service, params | page)
            results = listed(self._service, answer.get("results"))
            hits = read_hits(self.name, results, "url", "title", "content")
            silent = _unresponsive(answer)
            if not hits and silent and not number:
                raise self._service.error(
                    ServiceUnreachableError,
                    f"No engine of SearXNG answered ({silent}).",
                    "Enable other engines in the instance's settings.yml, or try again later.",
                )
            return ResultPage(hits, more=True)

        return await read_pages(query.limit, _SIZE, ask)


def _filters(query: Query) -> Iterator[tuple[str, str]]:
    if query.language:
        region = f"-{query.region}" if query.region else ""
        yield "language", query.primary_language + region
    if query.recency:
        yield "time_range", query.recency


def _unresponsive(answer: dict[str, Any]) -> str:
    """Return the engines that failed: SearXNG lists them as pairs of name and reason."""
    engines = answer.get("unresponsive_engines") or []
    return ", ".join(": ".join(str(part) for part in pair) for pair in engines if isinstance(pair, list))
