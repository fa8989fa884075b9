"""The cache of web pages as the settings describe it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AsyncExitStack

from citewell.core.errors import SettingsError
from citewell.core.packages import install_command
from citewell.core.settings import FetchSettings, Settings
from citewell.retriever.fetch.cache.disk import DiskStore
from citewell.retriever.fetch.cache.policy import CachePolicy
from citewell.retriever.fetch.cache.store import CacheStore
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
    """Put the cache of the settings around `transport`; `stack` closes it.

    Raises `SettingsError` for a `fetch.cache_url` that is not understood.
    """
    fetch = settings.fetch
    if not fetch.cache:
        return transport
    policy = CachePolicy(
        shared=_is_shared(fetch), unstated_seconds=fetch.cache_seconds, stale_seconds=fetch.stale_seconds
    )
    caching = CachingTransport(transport, page_store(settings, warn), policy, scope=_scope(fetch))
    stack.push_async_callback(caching.close)
    return caching


def page_store(settings: Settings, warn: Warn = log) -> CacheStore:
    """Where pages are kept: the Redis or Valkey server of the settings, else the cache folder.

    Raises `SettingsError` for a `fetch.cache_url` that is not understood.
    """
    fetch = settings.fetch
    if not _is_shared(fetch):
        return DiskStore(settings.cache_dir / FOLDER, fetch.cache_bytes, fetch.max_bytes, warn)
    try:
        from citewell.retriever.fetch.cache.shared import RedisStore
    except ImportError:
        raise SettingsError(
            "The setting fetch.cache_url needs the package redis, which is not installed.",
            install_command("redis"),
        ) from None
    return RedisStore(fetch.cache_url.get_secret_value(), fetch.max_bytes, warn)


def _is_shared(fetch: FetchSettings) -> bool:
    return bool(fetch.cache_url.get_secret_value())


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
