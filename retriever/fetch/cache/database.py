"""The SQLite file of the cache: bounded, shared by processes, and replaced if it is damaged."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from citewell.core.write_ahead import use_write_ahead_log

T = TypeVar("T")

_VERSION = 1  # of the tables
# Entries are apart from records, so that a change of `used` does not write a page again.
_TABLES = (
    "CREATE TABLE entries (key TEXT PRIMARY KEY, id INTEGER NOT NULL, used REAL NOT NULL,"
    " keep_until REAL NOT NULL) WITHOUT ROWID",
    "CREATE INDEX entries_used ON entries (used)",
    "CREATE INDEX entries_keep_until ON entries (keep_until)",
    "CREATE TABLE records (id INTEGER PRIMARY KEY, record BLOB NOT NULL)",
)
_WAIT_SECONDS = 2.0  # for another process to finish its transaction
_WAL_BYTES = 4_000_000
_SPARE_BYTES = 16 * 4_096  # for what a record needs in the tables besides itself
# Errors of the file itself (https://www.sqlite.org/rescode.html), including missing tables.
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


class FileUsage(NamedTuple):
    """Entries, and the bytes that they take in the file."""

    entries: int
    bytes: int


class Loaded(NamedTuple):
    """A record, and its last known use in seconds since the epoch."""

    record: bytes
    used: float


class CacheDatabase:
    """One connection to the file; used by one thread at a time.

    A killed process leaves everything written before (SQLite's write-ahead log, without waiting for the
    disk). A damaged file is reported to `warn` and replaced by a new one. All other failures are raised as
    `sqlite3.Error` or `OSError`.
    """

    def __init__(self, file: Path, most_bytes: int, warn: Callable[[str], None]) -> None:
        self._file = file
        self._most_bytes = most_bytes
        self._warn = warn
        self._open: tuple[sqlite3.Connection, int] | None = None  # and the number of the file it is open on

    def load(self, key: str) -> Loaded | None:
        """Return the record of a key. It does not wait for threads or processes that write."""
        return self._do(lambda connection: _load(connection, key))

    def touch(self, key: str) -> None:
        """Note that a record is used, so that others are dropped before it."""
        update = "UPDATE entries SET used = ? WHERE key = ?"
        self._do(lambda connection: connection.execute(update, (time.time(), key)))

    def save(self, key: str, record: bytes, keep_until: float) -> None:
        """Keep a record; the least recently used ones are dropped to make room."""
        self._do(lambda connection: self._save(connection, key, record, keep_until))

    def remove(self, key: str) -> None:
        """Delete the record of a key."""
        self._do(lambda connection: self._remove(connection, key))

    def usage(self) -> FileUsage:
        """Count entries and bytes."""
        return self._do(lambda connection: FileUsage(_count(connection), _used_bytes(connection)))

    def clear(self) -> int:
        """Delete everything, free the disk space, and return how many entries there were."""
        return self._do(self._clear)

    def close(self) -> None:
        """Close the file."""
        if self._open:
            self._open[0].close()
            self._open = None

    def _do(self, action: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return action(self._connection())
        except sqlite3.DatabaseError as error:
            # The Python module itself complains without a code.
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF not in _DAMAGE:
                raise
            self._discard()
            self._warn(f"The cache of web pages {self._file} was damaged ({error}). A new one is begun.")
            return action(self._connection())

    def _connection(self) -> sqlite3.Connection:
        if self._open is None or self._open[1] != _number(self._file):
            self.close()
            self._open = self._opened()
        return self._open[0]

    def _opened(self) -> tuple[sqlite3.Connection, int]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.touch(mode=0o600)  # pages of one's own networks may be in it
        number = _number(self._file)
        connection = sqlite3.connect(
            self._file, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(_WAIT_SECONDS * 1000)}")
            if _number_of(connection, "PRAGMA user_version") != _VERSION:
                _begin_anew(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
        except BaseException:
            connection.close()
            raise
        return connection, number

    def _discard(self) -> None:
        """Delete the file, unless another thread or process has begun a new one."""
        number = self._open[1] if self._open else _number(self._file)
        self.close()
        if number == _number(self._file):
            for suffix in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)

    def _save(self, connection: sqlite3.Connection, key: str, record: bytes, keep_until: float) -> None:
        with _transaction(connection):
            _remove(connection, key)
            needed = len(record) + _SPARE_BYTES
            while _used_bytes(connection) + needed > self._most_bytes and (last := _least_useful(connection)):
                _remove(connection, last)
            number = connection.execute("INSERT INTO records (record) VALUES (?)", (record,)).lastrowid
            connection.execute(
                "INSERT INTO entries VALUES (?, ?, ?, ?)", (key, number, time.time(), keep_until)
            )
        if _file_bytes(connection) > self._most_bytes:
            _give_back(connection)  # the bound is lower than it was when the file grew

    def _remove(self, connection: sqlite3.Connection, key: str) -> None:
        with _transaction(connection):
            _remove(connection, key)

    def _clear(self, connection: sqlite3.Connection) -> int:
        count = _count(connection)
        with _transaction(connection):
            connection.execute("DELETE FROM entries")
            connection.execute("DELETE FROM records")
        _give_back(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return count


def _begin_anew(connection: sqlite3.Connection) -> None:
    """Create the tables, replacing those of another version."""
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    use_write_ahead_log(connection, _WAIT_SECONDS)
    with _transaction(connection):
        if _number_of(connection, "PRAGMA user_version") == _VERSION:
            return  # another process was faster
        for table in ("entries", "records"):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in _TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_VERSION}")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # A transaction that begins by reading could not wait for another process before its first write.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _load(connection: sqlite3.Connection, key: str) -> Loaded | None:
    query = "SELECT record, used FROM entries JOIN records USING (id) WHERE key = ?"
    row = connection.execute(query, (key,)).fetchone()
    return Loaded(*row) if row is not None else None


def _remove(connection: sqlite3.Connection, key: str) -> None:
    connection.execute("DELETE FROM records WHERE id = (SELECT id FROM entries WHERE key = ?)", (key,))
    connection.execute("DELETE FROM entries WHERE key = ?", (key,))


def _least_useful(connection: sqlite3.Connection) -> str | None:
    """Return the key of an expired entry or, without one, of the least recently used one."""
    over = "SELECT key FROM entries WHERE keep_until < ? ORDER BY keep_until LIMIT 1"
    oldest = "SELECT key FROM entries ORDER BY used LIMIT 1"
    row = connection.execute(over, (time.time(),)).fetchone() or connection.execute(oldest).fetchone()
    return str(row[0]) if row else None


def _give_back(connection: sqlite3.Connection) -> None:
    """Shrink the file by its free pages."""
    connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free only one page


def _count(connection: sqlite3.Connection) -> int:
    return _number_of(connection, "SELECT count(*) FROM entries")


def _used_bytes(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file's used pages; free ones are reused."""
    free = _number_of(connection, "PRAGMA freelist_count") * _number_of(connection, "PRAGMA page_size")
    return _file_bytes(connection) - free


def _file_bytes(connection: sqlite3.Connection) -> int:
    return _number_of(connection, "PRAGMA page_count") * _number_of(connection, "PRAGMA page_size")


def _number_of(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _number(file: Path) -> int:
    """Return a number that distinguishes files of the same name; 0 if there is no file."""
    return file.stat().st_ino if file.exists() else 0
