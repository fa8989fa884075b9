"""The cache of web pages as the settings describe it."""

from __future__ import annotations

from citewell.core.settings import FetchSettings, Settings
from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.policy import CachePolicy
from citewell.retriever.fetch.cache.transport import CachingTransport
from citewell.retriever.fetch.notices import warn_question
from citewell.retriever.fetch.transport import Transport

FOLDER = "web"
"""The folder of the cache of web pages in the cache folder."""


def cached(transport: Transport, settings: Settings) -> CachingTransport:
    """Wrap `transport` in the cache of the settings; its problems are reported to the question."""
    fetch = settings.fetch
    policy = CachePolicy(unstated_seconds=fetch.cache_seconds)
    return CachingTransport(transport, page_store(settings), policy, scope=_scope(fetch))


def page_store(settings: Settings) -> DiskStore:
    """Return the store of pages, in the settings' cache folder."""
    fetch = settings.fetch
    return DiskStore(settings.cache_dir / FOLDER, fetch.cache_bytes, fetch.max_bytes, warn_question)


def _scope(fetch: FetchSettings) -> str:
    """Identify the rules of fetching and the proxy: a page fetched under other rules is not used."""
    return repr(
        (
            sorted(map(str, fetch.allow_networks)),
            sorted(map(str, fetch.refuse_networks)),
            sorted(fetch.allow_ports),
            fetch.proxy.get_secret_value(),
        )
    )
