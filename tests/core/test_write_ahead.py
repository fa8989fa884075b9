"""Two processes that open an older SQLite file at once: one waits for the other."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from citewell.core.write_ahead import use_write_ahead_log


def mode(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA journal_mode").fetchone()[0])


def test_a_writer_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "pages.db"
    with (
        closing(sqlite3.connect(file, check_same_thread=False)) as writer,
        closing(sqlite3.connect(file)) as other,
    ):
        writer.execute("CREATE TABLE pages (url)")
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_write_ahead_log(other, 0.1)
        done = Timer(0.2, writer.commit)
        done.start()
        use_write_ahead_log(other, 30)
        done.join()
        assert mode(other) == "wal"


def test_a_file_that_cannot_be_written_is_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "pages.db"
    with closing(sqlite3.connect(file)) as writer:
        writer.execute("CREATE TABLE pages (url)")
    reader = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    with closing(reader), pytest.raises(sqlite3.OperationalError, match="readonly"):
        use_write_ahead_log(reader, 30)
