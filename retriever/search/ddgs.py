"""DuckDuckGo, without an API key, through the package ddgs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Protocol

from citewell.core.errors import (
    ServiceAnswerError,
    ServiceOfflineError,
    ServiceRateError,
    ServiceUnreachableError,
)
from citewell.core.types import Hit
from citewell.retriever.daemon_thread import in_daemon_thread
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Operators, Query, cannot
from citewell.retriever.search.results import read_hits

_OPERATORS = Operators(characters=500, words=80, alternatives=False)
_HINT = "DuckDuckGo blocks addresses that search often: wait, or use another search provider."
_HOST = "html.duckduckgo.com"
_NO_NAME = re.compile(r"\bdns ?error", re.IGNORECASE)
_HTTP_ERROR = re.compile(r"\w+: \w+\(")  # how ddgs reports errors of its HTTP client
# DuckDuckGo's regions are country-language, with a few exceptions.
_REGIONS = {
    ("GB", "en"): "uk-en",
    ("HK", "zh"): "hk-tzh",
    ("JP", "ja"): "jp-jp",
    ("KR", "ko"): "kr-kr",
    ("TW", "zh"): "tw-tzh",
}


class TextSearch(Protocol):
    """The part of `ddgs.DDGS` that we use."""

    def text(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Search; raises `ddgs.exceptions.DDGSException` if there are no results, for whatever reason."""
        ...


def _ddgs(seconds: float) -> TextSearch:
    from ddgs import DDGS

    engine: TextSearch = DDGS(timeout=math.ceil(seconds))
    return engine


class DdgsProvider:
    """DuckDuckGo's result pages, read with [ddgs](https://github.com/deedy5/ddgs), in a thread.

    ddgs reports "nothing found" and "DuckDuckGo refused" in the same way, so we cannot distinguish them.
    `connect` creates its client.
    """

    name = "ddgs"
    scope: Scope = "web"

    def __init__(
        self,
        seconds: float = 10.0,
        connect: Callable[[float], TextSearch] = _ddgs,
    ) -> None:
        """Search with a time limit of `seconds` per request that ddgs sends."""
        self._seconds = seconds
        self._connect = connect

    def notices(self, query: Query) -> list[str]:
        """Report a region without both language and country, and a truncated query."""
        both = query.language and query.region
        missing = frozenset() if both else query.filters & {Filter.LANGUAGE, Filter.COUNTRY}
        return [
            *cannot(self.name, missing | _OPERATORS.missing(query)),
            *_OPERATORS.shortened(self.name, query),
        ]

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` hits, best first. Raises `ServiceError` if the service fails."""
        results = await in_daemon_thread(lambda: self._text(query), self.name)
        return read_hits(self.name, results, "href", "title", "body")[: query.limit]

    def _text(self, query: Query) -> list[dict[str, Any]]:
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            return self._connect(self._seconds).text(
                _OPERATORS.apply(query),
                region=_region(query),
                timelimit=query.recency[0] if query.recency else None,
                max_results=query.limit,
                backend="duckduckgo",
            )
        except RatelimitException as error:
            raise ServiceRateError(f"DuckDuckGo limits this address: {error}.", _HINT) from error
        except TimeoutException as error:
            message = f"DuckDuckGo did not respond within {self._seconds:g} s."
            raise ServiceUnreachableError(message, _HINT) from error
        except DDGSException as error:
            text = str(error)
            if "No results found" in text:
                return []
            if _NO_NAME.search(text):
                raise ServiceOfflineError(_HOST) from error
            if _HTTP_ERROR.match(text):
                raise ServiceUnreachableError("DuckDuckGo cannot be reached.", _HINT) from error
            raise ServiceAnswerError(f"DuckDuckGo could not be read: {text[:200]}.", _HINT) from error


def _region(query: Query) -> str:
    if not (query.language and query.region):
        return "wt-wt"  # no region
    pair = (query.region, query.primary_language)
    return _REGIONS.get(pair, f"{query.region}-{query.primary_language}".lower())
