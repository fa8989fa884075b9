"""The SQLite files of a collection: transactions, and errors that explain themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from citewell.core.errors import CollectionError
from citewell.core.write_ahead import use_write_ahead_log

# Failures of the environment (https://www.sqlite.org/rescode.html); all others mean a damaged file.
_ENVIRONMENT = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
_WAIT = 30  # seconds to wait for another process's transaction


class DamagedError(CollectionError):
    """A file is damaged."""


class CollectionDatabase:
    """A connection to one file. Every write is one transaction, so an interruption leaves it consistent."""

    def __init__(self, file: Path, schema: str, *, what: str, cure: str) -> None:
        """Open `file`, creating it if it does not exist. Raises `CollectionError` if it is damaged.

        In that error, `what` names the contents and `cure` says what to do.
        """
        self._file = file
        self._what = what
        self._cure = cure
        with self._explained():
            self._connection = sqlite3.connect(file, timeout=_WAIT, check_same_thread=False)
            use_write_ahead_log(self._connection, _WAIT)
            self._connection.executescript(schema)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection; SQLite errors and values that cannot be decoded become `CollectionError`."""
        try:
            with self._explained():
                yield self._connection
        except ValueError as error:
            raise self._damage(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for one transaction, which is rolled back if the block fails."""
        with self._explained(), self._connection:
            yield self._connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", None)  # None for errors of the Python module itself
            if code is None or code & 0xFF not in _ENVIRONMENT or code == sqlite3.SQLITE_IOERR_SHORT_READ:
                raise self._damage(error) from error
            raise CollectionError(
                f"{self._what} cannot be read or written: {error}.",
                f"Check the free space and the permissions of {self._file.parent}. No stored data is lost.",
            ) from error

    def _damage(self, error: Exception) -> CollectionError:
        return DamagedError(f"{self._what} are damaged: {error}.", self._cure)
