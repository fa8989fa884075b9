"""Search through a SearXNG instance, the metasearch engine that needs no key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from citewell.core.errors import ServiceUnreachableError
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot
from citewell.retriever.search.results import ResultPage, listed, read_hits, read_pages

_SIZE = 10  # a page has more when several engines answer
_OPERATORS = Operators()
_HINTS = {
    403: "Its JSON format is switched off: add `- json` under `search: formats:` in the "
    "instance's settings.yml and restart it.",
    429: "Its limiter takes Citewell for a bot: wait, let your address pass in the instance's "
    "limiter.toml, or set `server: limiter: false` in settings.yml of an instance of your own.",
}


class SearxngProvider:
    """Speaks SearXNG's search API (https://docs.searxng.org/dev/search_api.html).

    `base_url` is the address of the instance, such as `http://localhost:8888`.
    """

    name = "searxng"
    scope: Scope = "web"

    def __init__(self, http: SearchHttp, base_url: str) -> None:
        """Search with the instance at `base_url`."""
        self._http = http
        self._service = Service("SearXNG", base_url.rstrip("/") + "/search", _HINTS)

    def notices(self, query: Query) -> list[str]:
        """Say that a country can only be chosen together with a language."""
        missing = query.filters & {Filter.COUNTRY} if not query.language else frozenset[Filter]()
        return list(cannot(self.name, missing))

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first.

        Raises a `ServiceError` when the instance cannot answer, which includes that every engine behind it is
        blocked or silent.
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
    """Name the engines that failed: SearXNG lists them as pairs of name and reason."""
    engines = answer.get("unresponsive_engines") or []
    return ", ".join(": ".join(str(part) for part in pair) for pair in engines if isinstance(pair, list))
