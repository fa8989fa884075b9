"""The cache of web pages as the settings describe it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from citewell.core.settings import FetchSettings, Settings
from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.policy import CachePolicy
from citewell.retriever.fetch.cache.transport import CachingTransport
from citewell.retriever.fetch.transport import Transport

FOLDER = "web"
"""Where the cache of web pages is in the cache folder."""

_LOG = logging.getLogger("citewell.cache")


Warn = Callable[[str], None]
"""Told what is wrong with the cache: it never fails a question."""


def log(warning: str) -> None:
    """Log a warning."""
    _LOG.error(warning)


def cached(transport: Transport, settings: Settings, stack: AsyncExitStack, warn: Warn = log) -> Transport:
    """Put the cache of the settings around `transport`; `stack` closes it."""
    fetch = settings.fetch
    if not fetch.cache:
        return transport
    policy = CachePolicy(unstated_seconds=fetch.cache_seconds, stale_seconds=fetch.stale_seconds)
    caching = CachingTransport(transport, page_store(settings, warn), policy, scope=_scope(fetch))
    stack.push_async_callback(caching.close)
    return caching


def page_store(settings: Settings, warn: Warn = log) -> DiskStore:
    """Where pages are kept: in the cache folder of the settings."""
    fetch = settings.fetch
    return DiskStore(settings.cache_dir / FOLDER, fetch.cache_bytes, fetch.max_bytes, warn)


def _scope(fetch: FetchSettings) -> str:
    """What may be fetched, and through whom: a page that was fetched under other rules is not used."""
    return repr(
        (
            sorted(map(str, fetch.allow_networks)),
            sorted(map(str, fetch.refuse_networks)),
            sorted(fetch.allow_ports),
            fetch.proxy.get_secret_value(),
        )
    )
