"""The write-ahead log of SQLite files, which lets others read while one process writes."""

from __future__ import annotations

import sqlite3
import time

_PAUSE = 0.02  # seconds between two tries


def use_write_ahead_log(connection: sqlite3.Connection, seconds: float) -> None:
    """Keep the changes of the file in a write-ahead log from now on (https://www.sqlite.org/wal.html).

    Waits up to `seconds` while another connection writes: SQLite refuses this change at once then, whatever
    the timeout of the connection. Raises `sqlite3.OperationalError` after that.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(_PAUSE)
