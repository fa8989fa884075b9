"""The queue of a crawl, stored in the collection's database so that an interrupted crawl can resume."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from citewell.retriever.collection.database import CollectionDatabase

State = Literal["read", "gone", "failed", "skipped"]
"""The state of a URL: `read`; `gone`, if the site has no such page; `failed`, if it could not be fetched; or
`skipped`, if robots.txt forbids it or it redirects to another URL."""


class Queued(NamedTuple):
    """A URL to fetch, and its number of links from the start page."""

    url: str
    depth: int


class Frontier:
    """The URLs of the crawl from `start`, queued or settled."""

    def __init__(self, database: CollectionDatabase, start: str) -> None:
        """Begin a crawl, or resume an interrupted one from the same `start`."""
        self._database = database
        self._start = start
        with database.writing() as db:
            db.execute("INSERT OR IGNORE INTO frontier VALUES (?, ?, 0, 'queued')", (start, start))

    def next(self) -> Queued | None:
        """Return the next URL to fetch, nearest to the start first; None at the end."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT url, depth FROM frontier WHERE start = ? AND state = 'queued'"
                " ORDER BY depth, rowid LIMIT 1",
                (self._start,),
            ).fetchone()
        return Queued(*row) if row else None

    def settle(self, states: Mapping[str, State], links: Iterable[str], depth: int) -> None:
        """Set the state of URLs at `depth`, and queue the links found there."""
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
        """Return whether the state of `url` is final in this crawl."""
        with self._database.reading() as db:
            row = db.execute(
                "SELECT state != 'queued' FROM frontier WHERE start = ? AND url = ?", (self._start, url)
            ).fetchone()
        return bool(row and row[0])

    def site(self) -> str:
        """Return the URL that the start redirects to, or the start itself before it was fetched."""
        with self._database.reading() as db:
            (url,) = db.execute(
                "SELECT url FROM frontier WHERE start = ? AND depth = 0 ORDER BY rowid DESC LIMIT 1",
                (self._start,),
            ).fetchone()
        return str(url)

    def visits(self) -> int:
        """Return the number of URLs fetched."""
        with self._database.reading() as db:
            (number,) = db.execute(
                "SELECT count(*) FROM frontier WHERE start = ? AND state IN ('read', 'gone', 'failed')",
                (self._start,),
            ).fetchone()
        return int(number)

    def urls(self, state: State) -> set[str]:
        """Return all URLs in this state."""
        with self._database.reading() as db:
            rows = db.execute("SELECT url FROM frontier WHERE start = ? AND state = ?", (self._start, state))
            return {url for (url,) in rows}

    def end(self) -> None:
        """Delete the queue, so that the next crawl from the same start begins again."""
        with self._database.writing() as db:
            db.execute("DELETE FROM frontier WHERE start = ?", (self._start,))
