"""The queue of a crawl in SQLite."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from citewell.retriever.collection.database import CollectionDatabase
from citewell.retriever.collection.frontier import Queued, State


class EmbeddedFrontier:
    """The queue in a collection's database; implements `Frontier`."""

    def __init__(self, database: CollectionDatabase, start: str) -> None:
        """See `Frontier.__init__`."""
        self._database = database
        self._start = start
        with database.writing() as db:
            db.execute("INSERT OR IGNORE INTO frontier VALUES (?, ?, 0, 'queued')", (start, start))

    def next(self) -> Queued | None:
        """See `Frontier.next`."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT url, depth FROM frontier WHERE start = ? AND state = 'queued'"
                " ORDER BY depth, rowid LIMIT 1",
                (self._start,),
            ).fetchone()
        return Queued(*row) if row else None

    def settle(self, states: Mapping[str, State], links: Iterable[str], depth: int) -> None:
        """See `Frontier.settle`."""
        with self._database.writing() as db:
            db.executemany(
                "INSERT INTO frontier VALUES (?, ?, ?, ?)"
                " ON CONFLICT (start, url) DO UPDATE SET state = excluded.state",
                [(self._start, url, depth, state) for url, state in states.items()],
            )
            db.executemany(
                "INSERT OR IGNORE INTO frontier VALUES (?, ?, ?, 'queued')",
                [(self._start, link, depth + 1) for link in links],
            )

    def is_settled(self, url: str) -> bool:
        """See `Frontier.is_settled`."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT state != 'queued' FROM frontier WHERE start = ? AND url = ?", (self._start, url)
            ).fetchone()
        return bool(row and row[0])

    def site(self) -> str:
        """See `Frontier.site`."""
        with self._database.reading() as db:
            (url,) = db.execute(
                "SELECT url FROM frontier WHERE start = ? AND depth = 0 ORDER BY rowid DESC LIMIT 1",
                (self._start,),
            ).fetchone()
        return str(url)

    def visits(self) -> int:
        """See `Frontier.visits`."""
        with self._database.reading() as db:
            (number,) = db.execute(
                "SELECT count(*) FROM frontier WHERE start = ? AND state IN ('read', 'gone', 'failed')",
                (self._start,),
            ).fetchone()
        return int(number)

    def urls(self, state: State | Literal["queued"]) -> set[str]:
        """See `Frontier.urls`."""
        with self._database.reading() as db:
            rows = db.execute("SELECT url FROM frontier WHERE start = ? AND state = ?", (self._start, state))
            return {url for (url,) in rows}

    def end(self) -> None:
        """See `Frontier.end`."""
        with self._database.writing() as db:
            db.execute("DELETE FROM frontier WHERE start = ?", (self._start,))
