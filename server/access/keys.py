"""API keys: created once, shown once, and stored as hashes."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, get_args

from citewell.core.errors import InputError
from citewell.core.server_settings import Scope

SCOPES: tuple[str, ...] = get_args(Scope)
"""The permissions of keys and accounts."""

_ID_BYTES = 8
_SECRET_BYTES = 32
_FORM = re.compile(r"cw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
_NO_HASH = "0" * 64


@dataclass(frozen=True)
class ApiKey:
    """A stored key: everything but its secret.

    `hash` is the SHA-256 of the secret, in hexadecimal. The secret has 256 random bits and cannot be guessed,
    so the slow hash that passwords need would only cost time. `rate_per_minute` and `daily` are None if the
    limits of the service apply.
    """

    id: str
    name: str
    hash: str = field(repr=False)
    scopes: frozenset[str]
    rate_per_minute: int | None
    daily: int | None
    created: datetime
    revoked: datetime | None
    expires: datetime | None

    def is_active(self, now: datetime) -> bool:
        """Return whether the key is neither revoked nor expired."""
        return self.revoked is None and (self.expires is None or now < self.expires)


class NewKey(NamedTuple):
    """A new key: the secret text to hand out, and what is stored."""

    secret: str
    key: ApiKey

    def __repr__(self) -> str:
        return f"NewKey(secret='cw_…', key={self.key!r})"


class Presented(NamedTuple):
    """A key from a request: the id to look it up by, and the hash of the secret."""

    id: str
    hash: str


def new_key(
    name: str,
    scopes: Iterable[str],
    *,
    rate_per_minute: int | None = None,
    daily: int | None = None,
    expires: datetime | None = None,
) -> NewKey:
    """Create a key.

    Raises `InputError` for a name that cannot be shown, an unknown scope, no scope, or a limit below 1.
    """
    if not name.strip() or not name.isprintable():
        raise InputError(f"{name!r} is not a name for a key.", "Write one with visible characters.")
    wanted = frozenset(scopes)
    if unknown := sorted(wanted - set(SCOPES)):
        raise InputError(f"Unknown scope {unknown[0]!r}.", f"Scopes are {', '.join(SCOPES)}.")
    if not wanted:
        raise InputError("A key requires a scope.", f"Scopes are {', '.join(SCOPES)}.")
    if any(limit is not None and limit < 1 for limit in (rate_per_minute, daily)):
        raise InputError(
            "The limit of a key must be at least 1.", "Without one, the limit of the service applies."
        )
    id_, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    key = ApiKey(id_, name, _hash(secret), wanted, rate_per_minute, daily, datetime.now(UTC), None, expires)
    return NewKey(f"cw_{id_}_{secret}", key)


def read_key(text: str) -> Presented | None:
    """Return the parts of a key, or None if the text does not look like a key."""
    match = _FORM.fullmatch(text)
    return Presented(match[1], _hash(match[2])) if match else None


def matches(key: ApiKey | None, presented: Presented) -> bool:
    """Return whether the secret is that of the key. A wrong secret and an unknown key take the same time."""
    expected = _NO_HASH if key is None else key.hash
    return hmac.compare_digest(expected, presented.hash) and key is not None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
