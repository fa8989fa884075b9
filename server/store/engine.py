"""Connections to SQLite and PostgreSQL, set up so that what is committed stays committed."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from server.store.address import Address
from server.store.columns import storable

BUSY_SECONDS = 30
"""How long SQLite waits for another process that writes."""

_CONNECT_SECONDS = 5
_SILENT_MILLISECONDS = 10_000  # after which a connection to a server that does not answer is dead
_WAL_BYTES = 16_000_000
_WRITES = "citewell_writes"


def open_engine(address: Address) -> AsyncEngine:
    """The engine of an address; connects when it is used.

    SQLite reads and writes at once (WAL), and waits for the disk at each commit, as PostgreSQL does anyway.
    Its transactions that write are those of `writing(engine)`.
    """
    if address.file is None:
        return create_async_engine(
            address.asynchronous,
            connect_args=_server_arguments(),
            hide_parameters=True,
            json_serializer=_json,
            pool_pre_ping=True,  # a server that was restarted is connected to again
            pool_size=8,
            max_overflow=8,
            pool_timeout=10,
        )
    engine = create_async_engine(
        address.asynchronous,
        hide_parameters=True,
        json_serializer=_json,
        pool_size=4,
        max_overflow=4,
        pool_timeout=BUSY_SECONDS,
    )
    _prepare_sqlite(engine.sync_engine)
    return engine


def writing(engine: AsyncEngine) -> AsyncEngine:
    """The same engine for transactions that write: those of SQLite wait for others as they begin.

    A transaction that begins by reading could not wait for another writer later, and would fail
    (https://www.sqlite.org/rescode.html#busy_snapshot).
    """
    return engine.execution_options(**{_WRITES: True})


def open_migrating_engine(address: Address) -> Engine:
    """An engine for one connection that migrates, without asyncio, which Alembic does not have."""
    if address.file is None:
        return create_engine(
            address.synchronous,
            connect_args=_server_arguments(),
            hide_parameters=True,
            json_serializer=_json,
            poolclass=NullPool,
        )
    engine = create_engine(
        address.synchronous, hide_parameters=True, json_serializer=_json, poolclass=NullPool
    )
    _prepare_sqlite(engine)
    return engine


def _json(value: Any) -> str:
    return storable(json.dumps(value, ensure_ascii=False))


def _server_arguments() -> dict[str, Any]:
    return {"connect_timeout": _CONNECT_SECONDS, "tcp_user_timeout": _SILENT_MILLISECONDS}


def _prepare_sqlite(engine: Engine) -> None:
    """Have SQLAlchemy begin transactions, since Python's module begins them late or not at all."""

    def connected(connection: DBAPIConnection, entry: ConnectionPoolEntry) -> None:
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout = {BUSY_SECONDS * 1000}",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"journal_size_limit = {_WAL_BYTES}",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def began(connection: Connection) -> None:
        is_writing = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if is_writing else "BEGIN")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", began)
