"""Wikipedia in any language, or any other MediaWiki."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urljoin

from citewell.core.errors import ServiceAnswerError, ServiceRateError, ServiceUnreachableError
from citewell.core.types import Hit
from citewell.retriever.search.api import SearchHttp, Service
from citewell.retriever.search.provider import Scope
from citewell.retriever.search.query import Filter, Query, cannot, clip
from citewell.retriever.search.results import plain
from citewell.retriever.search.words import spoken

URL = "https://en.wikipedia.org/w/api.php"

_HINTS = {
    403: "The wiki rejects this user agent or requires a login; see Wikimedia's policy: "
    "https://meta.wikimedia.org/wiki/User-Agent_policy.",
    429: "Too many searches in a short time: wait a minute, or use another search provider.",
}
_MAX_CHARACTERS = 300  # CirrusSearch rejects longer queries
_TRANSIENT = {
    "maxlag": ServiceUnreachableError,
    "readonly": ServiceUnreachableError,
    "ratelimited": ServiceRateError,
    "cirrussearch-too-busy-error": ServiceRateError,
    "search-backend-error": ServiceUnreachableError,
}


class WikipediaProvider:
    """Client of MediaWiki's search API (https://www.mediawiki.org/wiki/API:Search).

    `api_url` is the wiki's api.php, such as `https://de.wikipedia.org/w/api.php`.
    """

    name = "wikipedia"
    scope: Scope = "site"

    def __init__(self, http: SearchHttp, api_url: str = URL) -> None:
        """Search the wiki at `api_url`; the English Wikipedia stands for the Wikipedias of all languages."""
        self._http = http
        self._url = api_url

    def notices(self, query: Query) -> list[str]:
        """Report filters that a wiki does not support, and a truncated query."""
        any_language = {Filter.LANGUAGE} if self._url == URL else set()
        notices = list(cannot(self.name, query.filters - any_language))
        if len(query.text) > _MAX_CHARACTERS:
            notices.append(
                f"{spoken(self.name)} reads at most {_MAX_CHARACTERS} characters: the query was truncated."
            )
        return notices

    async def search(self, query: Query) -> list[Hit]:
        """Return at most `query.limit` articles, best first. Raises `ServiceError` if the wiki fails.

        The same request asks for the pattern of article URLs, which differs between wikis
        (https://www.mediawiki.org/wiki/API:Siteinfo).
        """
        text = query.text
        service = Service("MediaWiki", wiki_url(self._url, query), _HINTS)
        answer = await self._http.ask(
            service,
            {
                "action": "query",
                "format": "json",
                "formatversion": "2",
                "list": "search",
                "srsearch": text if len(text) <= _MAX_CHARACTERS else clip(text, _MAX_CHARACTERS, 300),
                "srlimit": str(query.limit),
                "srprop": "snippet",
                "meta": "siteinfo",
                "siprop": "general",
            },
        )
        # MediaWiki reports errors with status 200: https://www.mediawiki.org/wiki/API:Errors
        error = answer.get("error")
        if isinstance(error, dict):
            raise service.error(
                _TRANSIENT.get(str(error.get("code")), ServiceAnswerError),
                f"MediaWiki at {service.url} answered: {error.get('info', '')} "
                f"({error.get('code', 'no code')}).",
                "Rephrase the query, or wait if the wiki is busy or limits requests.",
            )
        try:
            general = answer["query"]["general"]
            article = urljoin(urljoin(service.url, general["server"]), general["articlepath"])
            return [self._hit(result, article) for result in answer["query"]["search"][: query.limit]]
        except (AttributeError, KeyError, TypeError) as other:
            raise service.error(
                ServiceAnswerError,
                f"{service.url} did not return a MediaWiki list of results.",
                "Check that the URL is that of a wiki's api.php.",
            ) from other

    def _hit(self, result: dict[str, Any], article: str) -> Hit:
        """Read one result; `article` is the URL of an article with `$1` for its name."""
        name = quote(result["title"].replace(" ", "_"), safe=":/(),;@!*~-._")
        return Hit(article.replace("$1", name), result["title"], plain(result["snippet"]), self.name)


def wiki_url(api_url: str, query: Query) -> str:
    """Return the api.php to query: with the default URL, that of the Wikipedia in the query's language."""
    if api_url != URL or not query.language:
        return api_url
    language = {"nb": "no"}.get(query.primary_language, query.primary_language)
    return f"https://{language}.wikipedia.org/w/api.php"
