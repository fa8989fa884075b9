"""Requests that their clients may repeat, and what became of each.

A request counts for a day. After that, its row is deleted when another request is claimed, or when the
database is opened.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from citewell.server.store.connection import Database
from citewell.server.store.errors import StoreError
from citewell.server.store.old_requests import abandoned_before, deleting_old, old_before
from citewell.server.store.tables import REQUESTS


@dataclass(frozen=True)
class StoredRequest:
    """A request that was claimed: the digest of its content, and its reply, None until that is known."""

    digest: str
    created: datetime
    reply: dict[str, Any] | None


def request_id(key_id: str | None, name: str) -> str:
    """Return the id of the request that a key named; keys cannot see each other's."""
    return hashlib.sha256(f"{key_id or ''}\0{name}".encode()).hexdigest()


class RequestStore:
    """The stored requests. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, id_: str, digest: str) -> StoredRequest | None:
        """Return the earlier request with this id; if there is none, store this one and return None."""
        if (known := await self._get(id_)) is not None:
            return known
        row = {"id": id_, "digest": digest, "created": datetime.now(UTC), "reply": None}
        try:
            await self._database.change_all([deleting_old(), insert(REQUESTS).values(row)])
        except StoreError:
            if (known := await self._get(id_)) is not None:  # another worker was faster
                return known
            raise
        return None

    async def finish(self, id_: str, reply: dict[str, Any]) -> None:
        """Store what became of a request."""
        await self._database.change(update(REQUESTS).where(REQUESTS.c.id == id_).values(reply=reply))

    async def reopen(self, id_: str, answer_id: str) -> bool:
        """Claim a request again that led to an answer; return whether no other repetition was faster."""
        led = REQUESTS.c.reply["answer"].as_string() == answer_id
        again = update(REQUESTS).where((REQUESTS.c.id == id_) & led)
        return bool(await self._database.change(again.values(reply=None, created=datetime.now(UTC))))

    async def release(self, id_: str) -> None:
        """Forget a request that came to nothing, so that it can be repeated."""
        await self._database.change(delete(REQUESTS).where(REQUESTS.c.id == id_), lasting=False)

    async def _get(self, id_: str) -> StoredRequest | None:
        columns = [REQUESTS.c[name] for name in StoredRequest.__dataclass_fields__]
        rows = await self._database.rows(select(*columns).where(REQUESTS.c.id == id_))
        found = StoredRequest(**rows[0]) if rows else None
        if found is None or found.created < old_before():
            return None
        return None if found.reply is None and found.created < abandoned_before() else found
