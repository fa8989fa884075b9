"""No host is asked for more than its share of the pages of one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from citewell.core.errors import FetchError
from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.hedge import Fetch
from citewell.retriever.fetch.urls import web_url


class HostShare:
    """Fetches the pages of one question, at most `most` of each host; speaks `Fetch`.

    A page may be asked for again. Redirects do not count: they are hops of the page that leads to them.
    """

    def __init__(self, fetch: Fetch, most: int) -> None:
        """Fetch with `fetch`."""
        self._fetch = fetch
        self._most = most
        self._asked: defaultdict[str | None, set[str]] = defaultdict(set)

    async def __call__(
        self, url: str, *, hedge: bool = False, on_body: Callable[[], None] | None = None
    ) -> Download:
        """Fetch `url`; raises `FetchError` of the kind `host_pages` when it is one too many of its host."""
        asked = self._asked[web_url(url).raw_host]
        if url not in asked and len(asked) >= self._most:
            raise FetchError(
                f"{self._most} other pages of its host are read already",
                "The setting fetch.host_pages raises the limit.",
                "host_pages",
            )
        asked.add(url)
        return await self._fetch(url, hedge=hedge, on_body=on_body)
