"""The resources that a rendered page may request: those at public addresses and on its own host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address

from citewell.retriever.fetch.download import Download
from citewell.retriever.fetch.guard import Network
from citewell.retriever.fetch.urls import web_url

Get = Callable[[str], Awaitable[Download]]


class SubresourceFetcher:
    """A fetcher of scripts, style sheets and data for pages that are rendered.

    A script of a public page must not read a private network that was opened for fetching: it could send the
    contents to anyone. So private addresses are only open to pages of the same private address. A host name
    does not count as one, since its owner can change its address between requests.
    """

    def __init__(self, public: Get, private: Get, networks: Iterable[Network]) -> None:
        """Use `public`, which refuses all private addresses, and `private`, which allows `networks`.

        `private` follows no redirect to another host.
        """
        self._public = public
        self._private = private
        self._networks = tuple(networks)

    async def get(self, page: str, url: str) -> Download:
        """Fetch `url` for the page at the URL `page`; raises `FetchError`."""
        host = web_url(page).raw_host or ""
        is_own = web_url(url).raw_host == host
        return await (self._private if is_own and self._is_private(host) else self._public)(url)

    def _is_private(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._networks)
