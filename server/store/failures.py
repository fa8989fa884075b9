"""Errors of SQLite and PostgreSQL in plain words."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from citewell.server.store.errors import StoreError, StoreFullError, StoreUnreachableError

_WAITING = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_FILE_HINT = "Check that this user may write the file and its folder."
_FULL = {"53100"}  # disk_full (https://www.postgresql.org/docs/current/errcodes-appendix.html)


def explained(error: Exception, place: str) -> StoreError:
    """Return the error to raise in place of one from the database at `place`.

    It holds no values of queries.
    """
    cause = error.orig if isinstance(error, StatementError) and error.orig is not None else error
    reason = (str(cause).strip() or type(cause).__name__).splitlines()[0].rstrip(".")
    if isinstance(cause, TimeoutError):
        reason = "it did not answer in time"
    message = f"The database {place} failed: {reason}."
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(cause, "sqlstate", None) in _FULL:
        return StoreFullError(
            f"The database {place} is full: {reason}.",
            "Free some disk space; the service recovers by itself.",
        )
    if code in _WAITING:
        return StoreUnreachableError(message, "Another process locks the file; find out which.")
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StoreError(message, "The file is corrupt or not a database. Restore it from a backup.")
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return StoreUnreachableError(message, _FILE_HINT)
    if isinstance(error, (TimeoutError, PoolTimeoutError)):
        return StoreUnreachableError(message, "The server hangs or is overloaded.")
    if isinstance(error, OSError):
        return StoreUnreachableError(message, _FILE_HINT)
    if isinstance(error, (OperationalError, InterfaceError)) or (
        isinstance(error, DBAPIError) and error.connection_invalidated
    ):
        return StoreUnreachableError(
            message, "Check that the server of server.database_url runs and accepts the password."
        )
    return StoreError(message)
