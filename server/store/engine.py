"""Connections to SQLite and PostgreSQL, configured so that commits are durable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from enum import Enum
from typing import Any, Protocol, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from citewell.server.store.address import Address
from citewell.server.store.columns import storable

T = TypeVar("T")

BUSY_SECONDS = 30
"""Seconds that SQLite waits for another process that writes."""

_CONNECT_SECONDS = 5
_SILENT_MILLISECONDS = 10_000  # after which a connection to a server that does not answer is dead
_THREADS = 4  # that read a SQLite file at once; one of them may write
_WAL_BYTES = 16_000_000
_KIND = "citewell_kind"


class Kind(Enum):
    """A kind of transaction: the statement that begins it in SQLite, and its synchronization at the end."""

    READING = "BEGIN", "NORMAL"
    WRITING = "BEGIN IMMEDIATE", "NORMAL"
    LASTING = "BEGIN IMMEDIATE", "FULL"


class Transactions(Protocol):
    """A runner of work on a connection, in one transaction each, without blocking the event loop."""

    async def run(self, work: Callable[[Connection], T], kind: Kind) -> T:
        """Run `work` and commit; an exception rolls the transaction back."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


def open_transactions(address: Address) -> Transactions:
    """Return the transactions of an address; connections are made when the first one runs."""
    return ServerTransactions(address) if address.file is None else FileTransactions(address)


class ServerTransactions:
    """Transactions of PostgreSQL, where each commit waits for the disk."""

    def __init__(self, address: Address) -> None:
        self._engine = create_async_engine(
            address.url,
            connect_args=_server_arguments(),
            hide_parameters=True,
            json_serializer=_json,
            pool_pre_ping=True,  # reconnect to a restarted server
            pool_size=8,
            max_overflow=8,
            pool_timeout=10,
        )

    async def run(self, work: Callable[[Connection], T], kind: Kind) -> T:
        """Run `work` and commit."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(work)

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


class FileTransactions:
    """Transactions of a SQLite file, each run as a whole in one of a few threads. (An asynchronous driver
    would pass each statement to a thread.) Reads and writes are concurrent (WAL). Every commit survives a
    crash of the process; a lasting one waits for the disk, and so for all commits before it
    (https://www.sqlite.org/pragma.html#pragma_synchronous). A transaction that writes waits for other writers
    as it begins: a transaction that began by reading could not wait later and would fail
    (https://www.sqlite.org/rescode.html#busy_snapshot).
    """

    def __init__(self, address: Address) -> None:
        self.engine = create_engine(
            address.url,
            hide_parameters=True,
            json_serializer=_json,
            pool_size=_THREADS,
            max_overflow=0,
        )
        """The engine, for tests and tools."""
        _prepare_sqlite(self.engine)
        self._threads = ThreadPoolExecutor(_THREADS, "citewell-store")
        # Writers of this process wait here in turn; in SQLite, they would sleep and retry.
        self._writing = asyncio.Lock()

    async def run(self, work: Callable[[Connection], T], kind: Kind) -> T:
        """Run `work` and commit."""
        async with nullcontext() if kind is Kind.READING else self._writing:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, work, kind)

    async def close(self) -> None:
        """Close all connections."""
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.dispose()

    def _run(self, work: Callable[[Connection], T], kind: Kind) -> T:
        with self.engine.connect().execution_options(**{_KIND: kind}) as connection, connection.begin():
            return work(connection)


def open_migrating_engine(address: Address) -> Engine:
    """Return a synchronous engine for migrations: Alembic does not support asyncio."""
    if address.file is None:
        return create_engine(
            address.url,
            connect_args=_server_arguments(),
            hide_parameters=True,
            json_serializer=_json,
            poolclass=NullPool,
        )
    engine = create_engine(address.url, hide_parameters=True, json_serializer=_json, poolclass=NullPool)
    _prepare_sqlite(engine)
    return engine


def _json(value: Any) -> str:
    return storable(json.dumps(value, ensure_ascii=False))


def _server_arguments() -> dict[str, Any]:
    return {"connect_timeout": _CONNECT_SECONDS, "tcp_user_timeout": _SILENT_MILLISECONDS}


def _prepare_sqlite(engine: Engine) -> None:
    """Let SQLAlchemy begin transactions: Python's module begins them late or never."""

    def connected(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout = {BUSY_SECONDS * 1000}",
            "foreign_keys = ON",
            f"journal_size_limit = {_WAL_BYTES}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def began(connection: Connection) -> None:
        begin, synchronous = connection.get_execution_options().get(_KIND, Kind.LASTING).value
        connection.exec_driver_sql(f"PRAGMA synchronous = {synchronous}")
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", began)
