"""The SQLite files of a collection, and their failures in words that help."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from citewell.core.errors import CollectionError

# What the machine can be blamed for (https://www.sqlite.org/rescode.html); all else is damage.
_OUTSIDE = frozenset(
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
_WAIT = 30  # seconds for another process to finish its transaction


class DamagedError(CollectionError):
    """A file holds something else than what was written to it."""


class CollectionDatabase:
    """A connection to one file. Every write is one transaction, so that an interruption leaves it whole."""

    def __init__(self, file: Path, schema: str, *, what: str, cure: str) -> None:
        """Open `file`, made when it is not there; raises `CollectionError` when it is damaged.

        `what` names the contents in that error, and `cure` says what to do.
        """
        self._file = file
        self._what = what
        self._cure = cure
        with self._explained():
            self._connection = sqlite3.connect(file, timeout=_WAIT, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(schema)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; failures, and values that nobody wrote, become `CollectionError`."""
        try:
            with self._explained():
                yield self._connection
        except ValueError as error:
            raise self._damage(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection for one transaction, which is undone when the block fails."""
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
            code = getattr(error, "sqlite_errorcode", None)  # none, where the Python module itself complains
            if code is None or code & 0xFF not in _OUTSIDE or code == sqlite3.SQLITE_IOERR_SHORT_READ:
                raise self._damage(error) from error
            raise CollectionError(
                f"{self._what} cannot be read or written: {error}.",
                f"Check the free space and the rights of {self._file.parent}. Nothing that was there is "
                "lost.",
            ) from error

    def _damage(self, error: Exception) -> CollectionError:
        return DamagedError(f"{self._what} are damaged: {error}.", self._cure)
