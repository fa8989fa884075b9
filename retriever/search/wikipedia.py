"""Search in Wikipedia, in any language, or in any other MediaWiki."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import quote, urljoin

from core.errors import SearchError
from core.types import Hit
from retriever.fetch.download import USER_AGENT
from retriever.search.api import get_json

_HINTS = {
    403: "The wiki refuses this user agent or asks for a sign-in; Wikimedia's rules are at "
    "https://meta.wikimedia.org/wiki/User-Agent_policy.",
    429: "Too many searches in a short time: wait a minute, or use another search provider.",
}
_TAG = re.compile(r"<[^>]*>")


class WikipediaProvider:
    """Speaks MediaWiki's search API (https://www.mediawiki.org/wiki/API:Search).

    `api_url` is the wiki's api.php, such as `https://de.wikipedia.org/w/api.php`; `seconds`
    bounds one search.
    """

    name = "wikipedia"

    def __init__(
        self,
        api_url: str = "https://en.wikipedia.org/w/api.php",
        seconds: float = 10.0,
        user_agent: str = USER_AGENT,
    ) -> None:
        self._url = api_url
        self._seconds = seconds
        self._user_agent = user_agent

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return at most `limit` articles, best first; raise `SearchError` when there is no answer.

        One request asks for the results and for the wiki's own address of an article
        (https://www.mediawiki.org/wiki/API:Siteinfo), which is not the same on every wiki.
        """
        answer = await get_json(
            "MediaWiki",
            self._url,
            {
                "action": "query",
                "format": "json",
                "formatversion": "2",
                "list": "search",
                "srsearch": query,
                "srlimit": str(limit),
                "srprop": "snippet",
                "meta": "siteinfo",
                "siprop": "general",
            },
            hints=_HINTS,
            seconds=self._seconds,
            user_agent=self._user_agent,
        )
        # MediaWiki reports errors with status 200: https://www.mediawiki.org/wiki/API:Errors
        error = answer.get("error")
        if isinstance(error, dict):
            raise SearchError(
                f"MediaWiki at {self._url} answered: {error.get('info', '')} "
                f"({error.get('code', 'no code')}).",
                "Reword the query, or wait when the wiki is busy or limits its use.",
            )
        try:
            general = answer["query"]["general"]
            article = urljoin(urljoin(self._url, general["server"]), general["articlepath"])
            return [self._hit(result, article) for result in answer["query"]["search"][:limit]]
        except (AttributeError, KeyError, TypeError) as other:
            raise SearchError(
                f"{self._url} answered with JSON that is not a MediaWiki's list of results.",
                "Check that the address is that of a wiki's api.php.",
            ) from other

    def _hit(self, result: dict[str, Any], article: str) -> Hit:
        """Read one result; `article` is the address of an article with `$1` for its name."""
        name = quote(result["title"].replace(" ", "_"), safe=":/(),;@!*~-._")
        snippet = html.unescape(_TAG.sub("", result["snippet"]))
        return Hit(
            url=article.replace("$1", name),
            title=result["title"],
            snippet=" ".join(snippet.split()),
            provider=self.name,
        )
