"""Search through a SearXNG instance, the metasearch engine that needs no key."""

from __future__ import annotations

from typing import Any

from core.errors import SearchError
from core.types import Hit
from retriever.fetch.download import USER_AGENT
from retriever.search.api import get_json

_HINTS = {
    403: "Its JSON format is switched off: add `- json` under `search: formats:` in the "
    "instance's settings.yml and restart it.",
    429: "Its limiter takes Citewell for a bot: wait, let your address pass in the instance's "
    "limiter.toml, or set `server: limiter: false` in settings.yml of an instance of your own.",
}


class SearxngProvider:
    """Speaks SearXNG's search API (https://docs.searxng.org/dev/search_api.html).

    `base_url` is the address of the instance, such as `http://localhost:8888`; `seconds` bounds
    one search, for which SearXNG asks its engines in parallel.
    """

    name = "searxng"

    def __init__(self, base_url: str, seconds: float = 10.0, user_agent: str = USER_AGENT) -> None:
        self._url = base_url.rstrip("/") + "/search"
        self._seconds = seconds
        self._user_agent = user_agent

    async def search(self, query: str, limit: int) -> list[Hit]:
        """Return at most `limit` hits of the first page of results, best first.

        Raises `SearchError` when the instance cannot answer, which includes that every engine
        behind it is blocked or silent.
        """
        answer = await get_json(
            "SearXNG",
            self._url,
            {"q": query, "format": "json"},
            hints=_HINTS,
            seconds=self._seconds,
            user_agent=self._user_agent,
        )
        results = answer.get("results")
        if not isinstance(results, list):
            raise SearchError(
                f"SearXNG at {self._url} answered without a list of results.",
                "Check that the address is that of a SearXNG instance.",
            )
        hits = [hit for result in results if (hit := self._hit(result))]
        if not hits and (silent := _unresponsive(answer)):
            raise SearchError(
                f"No engine of SearXNG answered ({silent}).",
                "Enable other engines in the instance's settings.yml, or try again later.",
            )
        return hits[:limit]

    def _hit(self, result: Any) -> Hit | None:
        """Read one result; answers without a page of their own, such as magnet links, are none."""
        if not isinstance(result, dict):
            return None
        url = str(result.get("url") or "")
        if not url.startswith(("http://", "https://")):
            return None
        title, snippet = (" ".join(str(result.get(key) or "").split()) for key in ("title", "content"))
        return Hit(url=url, title=title, snippet=snippet, provider=self.name)


def _unresponsive(answer: dict[str, Any]) -> str:
    """Name the engines that failed: SearXNG lists them as pairs of name and reason."""
    engines = answer.get("unresponsive_engines") or []
    return ", ".join(": ".join(str(part) for part in pair) for pair in engines if isinstance(pair, list))
