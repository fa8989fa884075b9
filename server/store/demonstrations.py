"""Stored demonstrations: how people answered questions with the text browser, action by action."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import RowMapping, delete, insert, select, update

from citewell.server.store.connection import Database
from citewell.server.store.ids import new_id
from citewell.server.store.newest import newest
from citewell.server.store.tables import DEMONSTRATION_PAGES, DEMONSTRATIONS

DemonstrationStatus = Literal["browsing", "answering", "submitted"]


@dataclass(frozen=True, slots=True)
class StoredAction:
    """One action as entered, before repeated scrolls are merged. `seconds` is the time that the person took.
    `pages` is the id of the web's response to the action, None if there was none.
    """

    command: str
    seconds: float
    pages: str | None = None


@dataclass(frozen=True)
class StoredDemonstration:
    """A question, and the actions of a person to answer it.

    `options` are the collection to search and the limits. A demonstration is `browsing` until browsing has
    ended, then `answering`, and in the end `submitted`; only then it has an `episode`, which is
    `citewell.browser.episode.Episode` as plain values.
    """

    id: str
    key_id: str | None
    question: str
    options: dict[str, Any]
    status: DemonstrationStatus
    count: int
    actions: Sequence[StoredAction]
    created: datetime
    updated: datetime


_COLUMNS = [DEMONSTRATIONS.c[name] for name in StoredDemonstration.__dataclass_fields__]


class Demonstrations:
    """The stored demonstrations. Each method raises `StoreError` if the database fails."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, demonstration: StoredDemonstration) -> None:
        """Store a new demonstration."""
        await self._database.change(insert(DEMONSTRATIONS).values(_values(demonstration)))

    async def get(self, id_: str) -> StoredDemonstration | None:
        """Return one demonstration, or None."""
        rows = await self._database.rows(select(*_COLUMNS).where(DEMONSTRATIONS.c.id == id_))
        return _demonstration(rows[0]) if rows else None

    async def page(
        self, key_id: str | None, limit: int, before: str | None = None
    ) -> list[StoredDemonstration]:
        """Return the newest demonstrations, at most `limit`, of one key or, with None, of all callers.

        `before` skips that demonstration and all newer ones.
        """
        statement = newest(_COLUMNS, DEMONSTRATIONS.c.id, limit, before)
        if key_id is not None:
            statement = statement.where(DEMONSTRATIONS.c.key_id == key_id)
        return [_demonstration(row) for row in await self._database.rows(statement)]

    async def act(
        self,
        before: StoredDemonstration,
        command: str,
        seconds: float,
        noted: list[Any],
        status: DemonstrationStatus,
    ) -> StoredDemonstration | None:
        """Store another action and the web's response, and return the updated demonstration. Returns None if
        it has changed since `before`: another action was stored, or it was deleted.
        """
        pages = new_id() if noted else None
        if pages is not None:
            values = {"id": pages, "demonstration_id": before.id, "noted": noted}
            await self._database.change(insert(DEMONSTRATION_PAGES).values(values))
        actions = [*before.actions, StoredAction(command, seconds, pages)]
        changes = {
            "actions": [asdict(action) for action in actions],
            "count": before.count + 1,
            "status": status,
            "updated": datetime.now(UTC),
        }
        if not await self._change(before, changes):
            if pages is not None:
                await self._database.change(
                    delete(DEMONSTRATION_PAGES).where(DEMONSTRATION_PAGES.c.id == pages)
                )
            return None
        return _demonstration(vars(before) | changes)

    async def submit(self, before: StoredDemonstration, episode: dict[str, Any]) -> bool:
        """Store the episode of a demonstration; returns False if it has changed since `before`."""
        changes = {"episode": episode, "status": "submitted", "updated": datetime.now(UTC)}
        return await self._change(before, changes)

    async def noted(self, id_: str) -> dict[str, list[Any]]:
        """Return the web's responses in a demonstration, by the ids in `StoredAction.pages`."""
        statement = select(DEMONSTRATION_PAGES).where(DEMONSTRATION_PAGES.c.demonstration_id == id_)
        return {row["id"]: row["noted"] for row in await self._database.rows(statement)}

    async def episode(self, id_: str) -> dict[str, Any] | None:
        """Return the episode of a demonstration, or None if it was not submitted."""
        rows = await self._database.rows(select(DEMONSTRATIONS.c.episode).where(DEMONSTRATIONS.c.id == id_))
        return rows[0]["episode"] if rows else None

    async def each_episode(self) -> AsyncGenerator[dict[str, Any]]:
        """Yield the episodes of all submitted demonstrations, oldest first, read in batches."""
        statement = select(DEMONSTRATIONS.c.id, DEMONSTRATIONS.c.episode).where(
            DEMONSTRATIONS.c.status == "submitted"
        )
        async for row in self._database.each(statement, DEMONSTRATIONS.c.id):
            yield row["episode"]

    async def delete(self, id_: str) -> bool:
        """Delete a demonstration and its pages; returns False if it does not exist."""
        pages = delete(DEMONSTRATION_PAGES).where(DEMONSTRATION_PAGES.c.demonstration_id == id_)
        gone = await self._database.change(delete(DEMONSTRATIONS).where(DEMONSTRATIONS.c.id == id_))
        await self._database.change(pages)
        return gone > 0

    async def _change(self, before: StoredDemonstration, changes: dict[str, Any]) -> bool:
        same = (
            (DEMONSTRATIONS.c.id == before.id)
            & (DEMONSTRATIONS.c.count == before.count)
            & (DEMONSTRATIONS.c.status == before.status)
        )
        return await self._database.change(update(DEMONSTRATIONS).where(same).values(changes)) > 0


def _values(demonstration: StoredDemonstration) -> dict[str, Any]:
    return vars(demonstration) | {"actions": [asdict(action) for action in demonstration.actions]}


def _demonstration(row: RowMapping | dict[str, Any]) -> StoredDemonstration:
    return StoredDemonstration(
        **{**row, "actions": tuple(StoredAction(**action) for action in row["actions"])}
    )
