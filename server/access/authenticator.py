"""Authentication: the check of a request's key or account, and of its scopes."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from citewell.server.access.accounts import Accounts, UnknownAccountError
from citewell.server.access.errors import NoKeyError, WrongKeyError, WrongScopeError
from citewell.server.access.keys import SCOPES, ApiKey, matches, read_key

_HOW = "Send the header `Authorization: Bearer cw_…` with a key made by `citewell keys create`."


class KeyRing(Protocol):
    """A lookup of keys."""

    async def get(self, id_: str) -> ApiKey | None:
        """Return a key by its id, or None."""

    async def count(self) -> int:
        """Count the keys that were ever created."""


@dataclass(frozen=True)
class Caller:
    """The sender of a request: the id of its key, or None; its scopes; and its own limits, if any.

    An `account`, which a proxy has signed in, has a key of its own in all that is stored and counted. `name`
    is that of the key or the account.
    """

    key_id: str | None
    scopes: frozenset[str]
    rate_per_minute: int | None = None
    daily: int | None = None
    account: str | None = None
    name: str | None = None

    @property
    def sees_all(self) -> bool:
        """Whether the caller may see the answers and collections of others.

        Without keys, all callers use this computer.
        """
        return self.key_id is None or "admin" in self.scopes


ANONYMOUS = Caller(None, frozenset(SCOPES) - {"admin"})
"""Everyone, as long as no key was ever created and the service listens on this computer only."""

OWNER = Caller(None, frozenset(SCOPES))
"""The owner of the computer that the service runs on."""


class Authenticator:
    """An authenticator of requests by the keys of a store, the owner's token, or the accounts of a proxy.

    `loopback` says that the service listens on this computer only: there it is open while no key exists and
    no proxy signs people in; anywhere else it is closed. `owner` is the token of the owner, None if nobody
    has one.
    """

    def __init__(
        self,
        keys: KeyRing,
        *,
        loopback: bool = True,
        owner: str | None = None,
        accounts: Accounts | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._keys = keys
        self._loopback = loopback
        self._owner = owner
        self.accounts = accounts
        self._now = now
        self._has_keys = False

    async def admit(self, header: str | None, scope: str, *, account: str | None = None) -> Caller:
        """Return the caller, from the value of the header `Authorization` (RFC 6750, section 2.1).

        `account` is what a trusted proxy has signed in; a key, which a program sends, counts before it.

        Raises `NoKeyError` if a key is needed and missing, `WrongKeyError` if it is unknown, wrong, revoked
        or expired, `UnknownAccountError`, `WrongScopeError` if `scope` is lacking, and `StoreError`.
        """
        if self._is_owner(header):
            return OWNER
        scheme, _, text = (header or "").strip().partition(" ")
        if self.accounts is not None:
            if account is not None and not text.strip().startswith("cw_"):
                return _allowed(_of_account(account, self.accounts), scope)
        elif self._loopback and not await self._any_keys():
            return _allowed(ANONYMOUS, scope)
        if scheme.lower() != "bearer" or not text.strip():
            raise NoKeyError("An API key is required.", _HOW)
        return _allowed(await self._caller(text.strip()), scope)

    def _is_owner(self, header: str | None) -> bool:
        expected = f"Bearer {self._owner}".encode() if self._owner else None
        return expected is not None and hmac.compare_digest(expected, (header or "").encode())

    async def _caller(self, text: str) -> Caller:
        presented = read_key(text)
        if presented is None:
            raise WrongKeyError("The key is not valid.", _HOW)
        key = await self._keys.get(presented.id)
        if not matches(key, presented) or key is None:
            raise WrongKeyError("The key is not valid.", _HOW)
        if not key.is_active(self._now()):
            why = "was revoked" if key.revoked else "has expired"
            raise WrongKeyError(f"The key {why}.", "Ask for a new one: `citewell keys create`.")
        return Caller(key.id, key.scopes, key.rate_per_minute, key.daily, name=key.name)

    async def _any_keys(self) -> bool:
        """Return whether a key was ever created. Keys are revoked but never deleted, so True is final."""
        self._has_keys = self._has_keys or await self._keys.count() > 0
        return self._has_keys


def _of_account(name: str, accounts: Accounts) -> Caller:
    if name not in accounts.scopes:
        raise UnknownAccountError(name)
    return Caller(f"account:{name}", accounts.scopes[name], account=name, name=name)


def _allowed(caller: Caller, scope: str) -> Caller:
    if scope not in caller.scopes and caller.account is not None:
        raise WrongScopeError(
            f"The account {caller.account!r} lacks the scope `{scope}`, which this requires.",
            "The owner of the service adds it with the setting server.accounts.",
        )
    if scope not in caller.scopes:
        who = "The key lacks" if caller.key_id else "Requests without a key lack"
        raise WrongScopeError(
            f"{who} the scope `{scope}`, which this requires.",
            f"Create a key that has it: `citewell keys create NAME --scope {scope}`.",
        )
    return caller
