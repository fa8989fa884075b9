"""Reading and writing one database: each statement is a transaction, each failure a `StoreError`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Column, Connection, Delete, Insert, RowMapping, Select, Update
from sqlalchemy.exc import SQLAlchemyError

from citewell.server.store.address import Address
from citewell.server.store.engine import BUSY_SECONDS, Kind, open_transactions
from citewell.server.store.errors import StoreError
from citewell.server.store.failures import explained
from citewell.server.store.migrate import migrate

Change = Insert | Update | Delete
T = TypeVar("T")

_SECONDS = 15.0  # per transaction, including the wait for a connection
_REST_SECONDS = 1.0  # between two attempts to open a database that failed
_BATCH = 500


@dataclass(frozen=True)
class _Failed:
    at: float
    error: StoreError


class Database:
    """One database, migrated before its first use.

    The transaction of a cancelled caller runs to its end.
    """

    def __init__(self, address: Address) -> None:
        self.transactions = open_transactions(address)
        """For tests and tools; the service uses `rows` and `change`."""
        self.place = address.place
        self._address = address
        self._seconds = _SECONDS + (BUSY_SECONDS if address.file else 0)
        self._opening = asyncio.Lock()
        self._is_open = False
        self._failed: _Failed | None = None
        self._under_way: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        """Migrate once; raises `StoreError` if that fails."""
        if self._is_open:
            return
        async with self._opening:
            if self._is_open:
                return
            if self._failed and time.monotonic() < self._failed.at + _REST_SECONDS:
                raise self._failed.error
            try:
                await asyncio.to_thread(migrate, self._address)
            except StoreError as error:
                self._failed = _Failed(time.monotonic(), error)
                raise
            self._is_open = True

    async def rows(self, statement: Select[Any]) -> Sequence[RowMapping]:
        """Return the rows of a query."""

        def fetch(connection: Connection) -> Sequence[RowMapping]:
            return connection.execute(statement).mappings().all()

        return await self._to_its_end(lambda: self._do(fetch))

    async def change(self, change: Change, *, lasting: bool = True) -> int:
        """Store a change, and return how many rows it changed.

        The change survives a crash of the process and, if it is `lasting`, a power failure.
        """

        (changed,) = await self.change_all([change], lasting=lasting)
        return changed

    async def change_all(self, changes: Sequence[Change], *, lasting: bool = True) -> list[int]:
        """Store several changes, all or none, and return how many rows each changed; see `change`."""

        def execute(connection: Connection) -> list[int]:
            return [connection.execute(change).rowcount for change in changes]

        kind = Kind.LASTING if lasting else Kind.WRITING
        return await self._to_its_end(lambda: self._do(execute, kind))

    async def each(self, query: Select[Any], id_: Column[str]) -> AsyncGenerator[RowMapping]:
        """Yield the rows of a query in the order of their ids, which must be among its columns.

        They are read in batches, so that a slow reader holds no transaction open.
        """
        last: str | None = None
        while True:
            batch = query.order_by(id_).limit(_BATCH)
            rows = await self.rows(batch if last is None else batch.where(id_ > last))
            for row in rows:
                yield row
            if len(rows) < _BATCH:
                return
            last = rows[-1][id_]

    async def close(self) -> None:
        """Wait for running transactions, and close all connections."""
        await asyncio.gather(*self._under_way, return_exceptions=True)
        await self.transactions.close()

    async def _to_its_end(self, work: Callable[[], Awaitable[T]]) -> T:
        async def run() -> T:
            return await work()

        task = asyncio.create_task(run())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    async def _do(self, work: Callable[[Connection], T], kind: Kind = Kind.READING) -> T:
        await self.open()
        try:
            async with asyncio.timeout(self._seconds):
                return await self.transactions.run(work, kind)
        except (SQLAlchemyError, OSError, TimeoutError) as error:
            raise explained(error, self.place) from error
