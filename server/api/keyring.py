"""Keys of the store, cached for a second: not every request queries the database."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from citewell.server.access.authenticator import KeyRing
from citewell.server.access.keys import ApiKey

_SECONDS = 1.0  # that a revoked key may still be accepted
_MAX_KEYS = 1000  # that are cached


class _RememberedKey(NamedTuple):
    key: ApiKey
    until: float


class RememberedKeys:
    """A lookup of keys in the store that `get_keys` returns; that raises `NotReadyError` until it is open."""

    def __init__(self, get_keys: Callable[[], KeyRing], clock: Callable[[], float] = time.monotonic) -> None:
        self._get_keys = get_keys
        self._clock = clock
        self._known: dict[str, _RememberedKey] = {}
        self._count = 0
        self._counted_until = 0.0

    async def get(self, id_: str) -> ApiKey | None:
        """Return a key by its id, or None, which is not cached."""
        now = self._clock()
        known = self._known.get(id_)
        if known is not None and now < known.until:
            return known.key
        key = await self._get_keys().get(id_)
        self._known.pop(id_, None)
        if key is not None:
            if len(self._known) >= _MAX_KEYS:
                del self._known[next(iter(self._known))]
            self._known[id_] = _RememberedKey(key, now + _SECONDS)
        return key

    async def count(self) -> int:
        """Count the keys that were ever created."""
        now = self._clock()
        if now >= self._counted_until:
            self._count = await self._get_keys().count()
            self._counted_until = now + _SECONDS
        return self._count
