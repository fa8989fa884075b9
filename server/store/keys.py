"""Stored API keys, without their secrets."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import RowMapping, func, insert, select, update

from citewell.server.access.keys import ApiKey
from citewell.server.store.connection import Database
from citewell.server.store.tables import KEYS


class KeyStore:
    """The stored keys. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, key: ApiKey) -> None:
        """Store a new key."""
        await self._database.change(insert(KEYS).values(vars(key) | {"scopes": " ".join(sorted(key.scopes))}))

    async def list(self) -> list[ApiKey]:
        """Return all keys, oldest first, including revoked and expired ones."""
        return [_key(row) for row in await self._database.rows(select(KEYS).order_by(KEYS.c.created))]

    async def get(self, id_: str) -> ApiKey | None:
        """Return one key, active or not, or None."""
        rows = await self._database.rows(select(KEYS).where(KEYS.c.id == id_))
        return _key(rows[0]) if rows else None

    async def revoke(self, id_: str) -> bool:
        """Revoke a key; returns False if it does not exist or was revoked before."""
        statement = update(KEYS).where(KEYS.c.id == id_, KEYS.c.revoked.is_(None))
        return await self._database.change(statement.values(revoked=datetime.now(UTC))) > 0

    async def count(self) -> int:
        """Count the keys ever created: revoking the last one does not open the service to everyone."""
        rows = await self._database.rows(select(func.count().label("number")).select_from(KEYS))
        return int(rows[0]["number"])


def _key(row: RowMapping) -> ApiKey:
    return ApiKey(**{**row, "scopes": frozenset(row["scopes"].split())})
