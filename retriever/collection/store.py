"""The pages of a collection, in SQLite: the truth from which its search index can be built again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from citewell.core.types import Page, Passage
from citewell.retriever.collection.database import CollectionDatabase

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    url TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    title TEXT NOT NULL,
    passages TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('new', 'indexed', 'gone')),
    date TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_by_state ON pages (state) WHERE state != 'indexed';
CREATE TABLE IF NOT EXISTS frontier (
    start TEXT NOT NULL,
    url TEXT NOT NULL,
    depth INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'read', 'gone', 'failed', 'skipped')),
    PRIMARY KEY (start, url)
);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class PageStore:
    """Pages with their passages, and which of them the search index does not know yet.

    A page is `new` until the index holds it, then `indexed`; `gone` until the index has let go of it.
    Every write is one transaction: an interrupted run leaves a consistent store behind.
    """

    def __init__(self, file: Path) -> None:
        """Open the store in `file`, made when it is not there; raises `CollectionError` when damaged."""
        folder = file.parent
        self.database = CollectionDatabase(
            file,
            _SCHEMA,
            what=f"The pages of the collection {folder.name!r}",
            cure=f"Delete {folder} and index its sources again.",
        )
        self._add_dates()

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def digests(self) -> dict[str, str]:
        """Every page's URL and the digest of the bytes that it was read from."""
        with self.database.reading() as db:
            return dict(db.execute("SELECT url, digest FROM pages WHERE state != 'gone'"))

    def put(self, source: str, pages: Iterable[tuple[Page, str]]) -> None:
        """Write pages, each with the digest of its bytes; a page that exists is replaced."""
        rows = [(p.url, source, digest, p.title, _dump(p.passages), "new", p.date) for p, digest in pages]
        with self.database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def drop(self, url: str) -> None:
        """Mark one page as gone."""
        with self.database.writing() as db:
            db.execute("UPDATE pages SET state = 'gone' WHERE url = ?", (url,))

    def forget(self, source: str, keep: set[str]) -> int:
        """Mark those pages of `source` as gone that are not in `keep`; return how many."""
        with self.database.writing() as db:
            held = db.execute("SELECT url FROM pages WHERE source = ? AND state != 'gone'", (source,))
            gone = [(url,) for (url,) in held if url not in keep]
            db.executemany("UPDATE pages SET state = 'gone' WHERE url = ?", gone)
        return len(gone)

    def mark_all_new(self) -> None:
        """Let the index learn every page again."""
        with self.database.writing() as db:
            db.execute("UPDATE pages SET state = 'new' WHERE state = 'indexed'")

    def unindexed(self) -> Iterator[tuple[Page, bool]]:
        """The pages that the index has yet to learn, or, where the second value is True, to forget."""
        with self.database.reading() as db:
            rows = db.execute("SELECT url, title, passages, date, state FROM pages WHERE state != 'indexed'")
            for url, title, passages, date, state in rows:
                yield _page(url, title, passages, date), state == "gone"

    def mark_indexed(self) -> None:
        """Note that the index has committed everything that `unindexed` gave."""
        with self.database.writing() as db:
            db.execute("DELETE FROM pages WHERE state = 'gone'")
            db.execute("UPDATE pages SET state = 'indexed' WHERE state = 'new'")

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None when the collection does not hold it."""
        with self.database.reading() as db:
            row = db.execute(
                "SELECT url, title, passages, date FROM pages WHERE url = ? AND state != 'gone'", (url,)
            ).fetchone()
            return _page(*row) if row else None

    def count(self) -> int:
        """How many pages there are."""
        with self.database.reading() as db:
            (number,) = db.execute("SELECT count(*) FROM pages WHERE state != 'gone'").fetchone()
        return int(number)

    def vectors(self) -> str:
        """Where the vectors of the passages are kept, as `set_vectors` was told; empty if there are none."""
        with self.database.reading() as db:
            row = db.execute("SELECT value FROM facts WHERE name = 'vectors'").fetchone()
        return str(row[0]) if row else ""

    def set_vectors(self, place: str) -> None:
        """Note where the vectors of the passages are kept; an empty `place` means nowhere."""
        with self.database.writing() as db:
            db.execute("DELETE FROM facts WHERE name = 'vectors'")
            if place:
                db.execute("INSERT INTO facts VALUES ('vectors', ?)", (place,))

    def sources(self) -> list[str]:
        """The folders, files and start URLs that pages came from."""
        with self.database.reading() as db:
            rows = db.execute("SELECT DISTINCT source FROM pages WHERE state != 'gone' ORDER BY source")
            return [source for (source,) in rows]

    def _add_dates(self) -> None:
        """Give a store of a Citewell that kept no dates a column of them; its pages have none yet."""
        if self._has_dates():
            return
        with self.database.writing() as db:
            db.execute("BEGIN IMMEDIATE")
            if not self._has_dates():  # another process may have been faster
                db.execute("ALTER TABLE pages ADD COLUMN date TEXT NOT NULL DEFAULT ''")

    def _has_dates(self) -> bool:
        with self.database.reading() as db:
            return any(name == "date" for _, name, *_ in db.execute("PRAGMA table_info(pages)"))


def _dump(passages: Iterable[Passage]) -> str:
    return json.dumps([[p.text, *p.headings] for p in passages], ensure_ascii=False)


def _page(url: str, title: str, passages: str, date: str) -> Page:
    rows = json.loads(passages)
    kept = tuple(Passage(url, title, text, tuple(headings)) for text, *headings in rows)
    return Page(url, title, kept, date=date)
