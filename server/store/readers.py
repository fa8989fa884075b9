"""Stored lists of who may read a collection; one without a list is for everyone."""

from __future__ import annotations

from sqlalchemy import delete, insert, select

from citewell.server.access.readers import Readers
from citewell.server.store.connection import Database
from citewell.server.store.tables import READERS


class ReaderStore:
    """The stored lists. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> dict[str, Readers]:
        """Return the lists by the names of their collections."""
        return {
            row["collection"]: Readers(frozenset(row["keys"]), frozenset(row["accounts"]))
            for row in await self._database.rows(select(READERS))
        }

    async def set(self, collection: str, readers: Readers) -> None:
        """Replace the list of a collection; an empty one opens it to everyone."""
        old = delete(READERS).where(READERS.c.collection == collection)
        lists = {"keys": sorted(readers.keys), "accounts": sorted(readers.accounts)}
        new = [insert(READERS).values(collection=collection, **lists)] if any(lists.values()) else []
        await self._database.change_all([old, *new])
