"""The queue of a crawl, kept in the collection's database: an interrupted crawl finds it again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from citewell.retriever.collection.database import CollectionDatabase

State = Literal["read", "gone", "failed", "skipped"]
"""What became of a URL: `read`; `gone`, where the site has no page for us; `failed`, where it may well
have one; or `skipped`, which costs nothing: robots.txt forbids it, or it led to another URL."""


class Queued(NamedTuple):
    """A URL to be fetched and how many links it is away from the start."""

    url: str
    depth: int


class Frontier:
    """The URLs of the crawl from `start`: those to be fetched, and those that are done with."""

    def __init__(self, database: CollectionDatabase, start: str) -> None:
        """Begin the crawl, unless one from the same `start` was interrupted: that one goes on."""
        self._database = database
        self._start = start
        with database.writing() as db:
            db.execute("INSERT OR IGNORE INTO frontier VALUES (?, ?, 0, 'queued')", (start, start))

    def next(self) -> Queued | None:
        """Return the URL to be fetched next, nearest to the start first; None at the end."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT url, depth FROM frontier WHERE start = ? AND state = 'queued'"
                " ORDER BY depth, rowid LIMIT 1",
                (self._start,),
            ).fetchone()
        return Queued(*row) if row else None

    def settle(self, states: Mapping[str, State], links: Iterable[str], depth: int) -> None:
        """Note what became of URLs at `depth`, and queue the links found there."""
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
        """Say whether this crawl is done with `url`."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT state != 'queued' FROM frontier WHERE start = ? AND url = ?", (self._start, url)
            ).fetchone()
        return bool(row and row[0])

    def site(self) -> str:
        """Return the URL that the start led to, or the start itself before it was fetched."""
        with self._database.reading() as db:
            (url,) = db.execute(
                "SELECT url FROM frontier WHERE start = ? AND depth = 0 ORDER BY rowid DESC LIMIT 1",
                (self._start,),
            ).fetchone()
        return str(url)

    def visits(self) -> int:
        """How many URLs were fetched."""
        with self._database.reading() as db:
            (number,) = db.execute(
                "SELECT count(*) FROM frontier WHERE start = ? AND state IN ('read', 'gone', 'failed')",
                (self._start,),
            ).fetchone()
        return int(number)

    def urls(self, state: State) -> set[str]:
        """Every URL in this state."""
        with self._database.reading() as db:
            rows = db.execute("SELECT url FROM frontier WHERE start = ? AND state = ?", (self._start, state))
            return {url for (url,) in rows}

    def end(self) -> None:
        """Forget the queue: the next crawl from the same start begins anew."""
        with self._database.writing() as db:
            db.execute("DELETE FROM frontier WHERE start = ?", (self._start,))
