"""The pages of a collection, in SQLite: the truth from which its search index can be built again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from core.errors import CollectionError
from core.types import Page, Passage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    url TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    title TEXT NOT NULL,
    passages TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('new', 'indexed', 'gone'))
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_by_state ON pages (state) WHERE state != 'indexed';
CREATE TABLE IF NOT EXISTS frontier (
    start TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (start, url)
);
"""


class PageStore:
    """Pages with their passages, and which of them the search index does not know yet.

    A page is `new` until the index holds it, then `indexed`; `gone` until the index has let go of it.
    Every write is one transaction: an interrupted run leaves a consistent store behind.
    """

    def __init__(self, file: Path) -> None:
        """Open the store in `file`, made when it is not there; raises `CollectionError` when damaged."""
        self._file = file
        with self._explained():
            self._db = sqlite3.connect(file, timeout=30, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def digests(self) -> dict[str, str]:
        """Every page's URL and the digest of the bytes that it was read from."""
        with self._explained():
            return dict(self._db.execute("SELECT url, digest FROM pages WHERE state != 'gone'"))

    def put(self, source: str, pages: Iterable[tuple[Page, str]]) -> None:
        """Write pages, each with the digest of its bytes; a page that exists is replaced."""
        rows = [(p.url, source, digest, p.title, _dump(p.passages), "new") for p, digest in pages]
        with self._explained(), self._db:
            self._db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?)", rows)

    def forget(self, source: str, keep: set[str]) -> int:
        """Mark those pages of `source` as gone that are not in `keep`; return how many."""
        with self._explained(), self._db:
            held = self._db.execute("SELECT url FROM pages WHERE source = ? AND state != 'gone'", (source,))
            gone = [(url,) for (url,) in held if url not in keep]
            self._db.executemany("UPDATE pages SET state = 'gone' WHERE url = ?", gone)
        return len(gone)

    def mark_all_new(self) -> None:
        """Let the index learn every page again."""
        with self._explained(), self._db:
            self._db.execute("UPDATE pages SET state = 'new' WHERE state = 'indexed'")

    def unindexed(self) -> Iterator[tuple[Page, bool]]:
        """The pages that the index has yet to learn, or, where the second value is True, to forget."""
        with self._explained():
            rows = self._db.execute("SELECT url, title, passages, state FROM pages WHERE state != 'indexed'")
            for url, title, passages, state in rows:
                yield _page(url, title, passages), state == "gone"

    def mark_indexed(self) -> None:
        """Note that the index has committed everything that `unindexed` gave."""
        with self._explained(), self._db:
            self._db.execute("DELETE FROM pages WHERE state = 'gone'")
            self._db.execute("UPDATE pages SET state = 'indexed' WHERE state = 'new'")

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None when the collection does not hold it."""
        with self._explained():
            row = self._db.execute(
                "SELECT url, title, passages FROM pages WHERE url = ? AND state != 'gone'", (url,)
            ).fetchone()
        return _page(*row) if row else None

    def count(self) -> int:
        """How many pages there are."""
        with self._explained():
            (number,) = self._db.execute("SELECT count(*) FROM pages WHERE state != 'gone'").fetchone()
        return int(number)

    def sources(self) -> list[str]:
        """The folders, files and start URLs that pages came from."""
        with self._explained():
            rows = self._db.execute("SELECT DISTINCT source FROM pages WHERE state != 'gone' ORDER BY source")
            return [source for (source,) in rows]

    def seed(self, start: str) -> None:
        """Begin the crawl from `start`, unless one was interrupted and goes on."""
        with self._explained(), self._db:
            if not self._db.execute(
                "SELECT 1 FROM frontier WHERE start = ? AND done = 0", (start,)
            ).fetchone():
                self._db.execute("DELETE FROM frontier WHERE start = ?", (start,))
                self._db.execute("INSERT INTO frontier VALUES (?, ?, 0, 0)", (start, start))

    def next_url(self, start: str) -> tuple[str, int] | None:
        """The next URL of the crawl and its depth, nearest to the start first; None at the end."""
        with self._explained():
            row = self._db.execute(
                "SELECT url, depth FROM frontier WHERE start = ? AND done = 0 ORDER BY depth, rowid LIMIT 1",
                (start,),
            ).fetchone()
        return (row[0], row[1]) if row else None

    def visited(self, start: str, url: str, links: Sequence[str], depth: int) -> None:
        """Note that `url` is done, and queue the links that it led to, at `depth`."""
        with self._explained(), self._db:
            self._db.executemany(
                "INSERT OR IGNORE INTO frontier VALUES (?, ?, ?, 0)", [(start, link, depth) for link in links]
            )
            self._db.execute("UPDATE frontier SET done = 1 WHERE start = ? AND url = ?", (start, url))

    def visits(self, start: str) -> int:
        """How many URLs of the crawl are done."""
        with self._explained():
            (number,) = self._db.execute(
                "SELECT count(*) FROM frontier WHERE start = ? AND done = 1", (start,)
            ).fetchone()
        return int(number)

    def end_crawl(self, start: str) -> None:
        """Forget the queue: the next crawl from `start` begins anew."""
        with self._explained(), self._db:
            self._db.execute("DELETE FROM frontier WHERE start = ?", (start,))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        name = self._file.parent.name
        try:
            yield
        except sqlite3.OperationalError as error:
            raise CollectionError(
                f"The collection {name!r} cannot be read or written: {error}.",
                f"Check the free space and the rights of {self._file.parent}. Nothing that was there is lost.",
            ) from error
        except sqlite3.DatabaseError as error:
            raise CollectionError(
                f"The pages of the collection {name!r} are damaged: {error}.",
                f"Delete {self._file.parent} and index its sources again.",
            ) from error


def _dump(passages: Iterable[Passage]) -> str:
    return json.dumps([[p.text, *p.headings] for p in passages], ensure_ascii=False)


def _page(url: str, title: str, passages: str) -> Page:
    rows = json.loads(passages)
    return Page(url, title, tuple(Passage(url, title, text, tuple(headings)) for text, *headings in rows))
