"""Who may come in: the check of a request's key and of what it may be used for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from citewell.server.access.errors import NoKeyError, WrongKeyError, WrongScopeError
from citewell.server.access.keys import SCOPES, ApiKey, matches, read_key

_HOW = "Send the header `Authorization: Bearer cw_…` with a key made by `citewell keys create`."


class KeyRing(Protocol):
    """Where keys are looked up."""

    async def get(self, id_: str) -> ApiKey | None:
        """Return a key by its id, or None."""

    async def count(self) -> int:
        """How many keys were ever created."""


@dataclass(frozen=True)
class Caller:
    """Who asks: a key's id, None without one, what it may do, and its own limits, None where it has none."""

    key_id: str | None
    scopes: frozenset[str]
    rate_per_minute: int | None = None
    daily: int | None = None


ANONYMOUS = Caller(None, frozenset(SCOPES) - {"admin"})
"""Everybody, as long as no key was ever created and the service listens on this computer only."""


class Authenticator:
    """Lets requests in by the keys of a store.

    `loopback` says whether the service listens on this computer only: without any key, it is open to
    everybody there, and to nobody elsewhere.
    """

    def __init__(
        self,
        keys: KeyRing,
        *,
        loopback: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._keys = keys
        self._loopback = loopback
        self._now = now
        self._has_keys = False

    async def admit(self, header: str | None, scope: str) -> Caller:
        """Return who asks, by the value of the header `Authorization` (RFC 6750, section 2.1).

        Raises `NoKeyError` without a key where one is needed, `WrongKeyError` for one that is unknown, wrong,
        revoked or over, `WrongScopeError` for one that may not be used for `scope`, and `StoreError`.
        """
        if self._loopback and not await self._any_keys():
            return _allowed(ANONYMOUS, scope)
        scheme, _, text = (header or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not text.strip():
            raise NoKeyError("This needs a key.", _HOW)
        return _allowed(await self._caller(text.strip()), scope)

    async def _caller(self, text: str) -> Caller:
        presented = read_key(text)
        if presented is None:
            raise WrongKeyError("The key is not valid.", _HOW)
        key = await self._keys.get(presented.id)
        if not matches(key, presented) or key is None:
            raise WrongKeyError("The key is not valid.", _HOW)
        if not key.holds(self._now()):
            why = "revoked" if key.revoked else "made for a time that is over"
            raise WrongKeyError(f"The key was {why}.", "Ask for a new one: `citewell keys create`.")
        return Caller(key.id, key.scopes, key.rate_per_minute, key.daily)

    async def _any_keys(self) -> bool:
        """Keys are revoked and never deleted, so that one is enough to ask no more."""
        self._has_keys = self._has_keys or await self._keys.count() > 0
        return self._has_keys


def _allowed(caller: Caller, scope: str) -> Caller:
    if scope not in caller.scopes:
        who = "The key is not" if caller.key_id else "Without a key, nobody is"
        raise WrongScopeError(
            f"{who} allowed to do this: it needs the scope `{scope}`.",
            f"Make a key that has it: `citewell keys create NAME --scope {scope}`.",
        )
    return caller
