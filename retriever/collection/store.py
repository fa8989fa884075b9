"""The pages of a collection, in SQLite; its search index can be rebuilt from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
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
_READ = "~"
_OF_SOURCE = "SELECT url FROM pages WHERE source = ? AND state != 'gone' ORDER BY url"


class PageStore:
    """Pages with their passages, and their state in the search index.

    A page is `new` until it is indexed, then `indexed`; a deleted page is `gone` until it is removed from the
    index. Every write is one transaction, so an interrupted run leaves a consistent store.
    """

    def __init__(self, file: Path) -> None:
        """Open the store in `file`, creating it if needed. Raises `CollectionError` if it is damaged."""
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

    def digests(self, urls: Sequence[str] | None = None) -> dict[str, str]:
        """Return the URLs of these or all pages, with the digests of the bytes they were extracted from."""
        query = "SELECT url, digest FROM pages WHERE state != 'gone'"
        with self.database.reading() as db:
            if urls is None:
                return dict(db.execute(query))
            rows = (db.execute(f"{query} AND url = ?", (url,)).fetchone() for url in urls)
            return dict(row for row in rows if row)

    def put(self, source: str, pages: Iterable[tuple[Page, str]]) -> None:
        """Write pages, each with the digest of its bytes, replacing existing ones."""
        rows = [
            (page.url, source, digest, page.title, dump_passages(page.passages), "new", dump_date(page))
            for page, digest in pages
        ]
        with self.database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def drop(self, url: str) -> bool:
        """Mark one page as gone; return whether there was one."""
        with self.database.writing() as db:
            gone = db.execute("UPDATE pages SET state = 'gone' WHERE url = ? AND state != 'gone'", (url,))
        return gone.rowcount > 0

    def forget(self, source: str, keep: set[str]) -> list[str]:
        """Mark the pages of `source` that are not in `keep` as gone; return their URLs."""
        with self.database.writing() as db:
            gone = [url for (url,) in db.execute(_OF_SOURCE, (source,)) if url not in keep]
            db.executemany("UPDATE pages SET state = 'gone' WHERE url = ?", [(url,) for url in gone])
        return gone

    def mark_all_new(self) -> None:
        """Mark all pages as new, so that they are indexed again."""
        with self.database.writing() as db:
            db.execute("UPDATE pages SET state = 'new' WHERE state = 'indexed'")

    def unindexed(self) -> Iterator[tuple[Page, bool]]:
        """Yield the pages to add to the index or, if the second value is True, to remove from it."""
        with self.database.reading() as db:
            rows = db.execute("SELECT url, title, passages, date, state FROM pages WHERE state != 'indexed'")
            for url, title, passages, date, state in rows:
                yield load_page(url, title, passages, date), state == "gone"

    def mark_indexed(self) -> None:
        """Note that the index has committed everything from `unindexed`."""
        with self.database.writing() as db:
            db.execute("DELETE FROM pages WHERE state = 'gone'")
            db.execute("UPDATE pages SET state = 'indexed' WHERE state = 'new'")

    def page(self, url: str) -> Page | None:
        """Return the page at `url`, or None if the collection does not have it."""
        with self.database.reading() as db:
            row = db.execute(
                "SELECT url, title, passages, date FROM pages WHERE url = ? AND state != 'gone'", (url,)
            ).fetchone()
            return load_page(*row) if row else None

    def count(self) -> int:
        """Return the number of pages."""
        with self.database.reading() as db:
            (number,) = db.execute("SELECT count(*) FROM pages WHERE state != 'gone'").fetchone()
        return int(number)

    def is_dense(self) -> bool:
        """Return whether the passages have vectors, or are to have them."""
        with self.database.reading() as db:
            return (
                db.execute("SELECT 1 FROM facts WHERE name = 'vectors' AND value = 'files'").fetchone()
                is not None
            )

    def may_be_dense(self) -> bool:
        """Return whether nothing is noted about vectors yet."""
        with self.database.reading() as db:
            return db.execute("SELECT 1 FROM facts WHERE name = 'vectors'").fetchone() is None

    def set_dense(self, dense: bool) -> None:
        """Note whether the passages are to have vectors."""
        with self.database.writing() as db:
            db.execute("DELETE FROM facts WHERE name = 'vectors'")
            db.execute("INSERT INTO facts VALUES ('vectors', ?)", ("files" if dense else "none",))

    def sources(self) -> list[str]:
        """Return the folders, files and start URLs that pages came from."""
        with self.database.reading() as db:
            rows = db.execute("SELECT DISTINCT source FROM pages WHERE state != 'gone' ORDER BY source")
            return [source for (source,) in rows]

    def urls(self, source: str) -> list[str]:
        """Return the URLs of the pages of a source, sorted."""
        with self.database.reading() as db:
            return [url for (url,) in db.execute(_OF_SOURCE, (source,))]

    def _add_dates(self) -> None:
        """Add the column of dates to a store from an older version."""
        if self._has_dates():
            return
        with self.database.writing() as db:
            db.execute("BEGIN IMMEDIATE")
            if not self._has_dates():  # another process may have added it
                db.execute("ALTER TABLE pages ADD COLUMN date TEXT NOT NULL DEFAULT ''")

    def _has_dates(self) -> bool:
        with self.database.reading() as db:
            return any(name == "date" for _, name, *_ in db.execute("PRAGMA table_info(pages)"))


def dump_passages(passages: Iterable[Passage]) -> str:
    """Return passages as JSON, without what they share with their page."""
    rows = [[p.text, *([] if p.page_number is None else [p.page_number]), *p.headings] for p in passages]
    return json.dumps(rows, ensure_ascii=False)


def dump_date(page: Page) -> str:
    """Return the day of publication or, where that is not known, `~` and the day on which a page was read."""
    return page.date or (page.read and f"{_READ}{page.read}")


def load_page(url: str, title: str, passages: str, date: str) -> Page:
    """Return a page from what was stored of it by `dump_passages` and `dump_date`."""
    found = tuple(_passage(url, title, *row) for row in json.loads(passages))
    if date.startswith(_READ):
        return Page(url, title, found, read=date.removeprefix(_READ))
    return Page(url, title, found, date=date)


def _passage(url: str, title: str, text: str, *place: str | int) -> Passage:
    """Read a passage, whose place is its page number, if it has one, and its headings."""
    headings = tuple(part for part in place if isinstance(part, str))
    number = next((part for part in place if isinstance(part, int)), None)
    return Passage(url, title, text, headings, number)
