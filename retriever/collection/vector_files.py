"""Vectors in files beside a collection's pages: stored in SQLite, searched in an index."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from citewell.core.errors import CollectionError
from citewell.retriever.collection.database import CollectionDatabase, DamagedError
from citewell.retriever.collection.neighbor_index import (
    IVF_SAMPLE,
    DamagedIndexError,
    Ids,
    Kind,
    NeighborIndex,
    kind_for,
    lists_for,
)
from citewell.retriever.collection.vectors import EncodedPage, Encoding, PassageMatch, Stored, no_vectors
from citewell.retriever.encoder.encoder import Vectors

# An id is never reused: the index lacks exactly the ids above its last one.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (url TEXT PRIMARY KEY, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL,
    passage INTEGER NOT NULL,
    text BLOB NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS vectors_by_url ON vectors (url);
"""
_ODD_VECTORS = """
SELECT 1 FROM vectors WHERE length(vector) != 2 * (SELECT value FROM facts WHERE name = 'dimension') LIMIT 1
"""
_BLOCK = 20_000  # vectors copied at a time
_MAX_DELETED = 0.2  # share of deleted vectors in the index above which it is rebuilt
_MAX_GROWTH = 2.0  # growth since training above which an IVF index is rebuilt
_VARIABLES = 500  # per SQL statement


class VectorFiles:
    """The vectors of one encoder in `FINGERPRINT.db`, and their index in `FINGERPRINT.index`.

    The database is written in transactions, and the index is replaced atomically. The index is derived from
    the database; it is checked when read, and rebuilt if damaged.
    """

    def __init__(self, folder: Path, encoding: Encoding, *, make: bool = False, threads: int = 1) -> None:
        """Open the vectors of this encoder in `folder`; with `make`, create them if there are none.

        `threads` is the number of threads that build the index. Raises `CollectionError` if the vectors are
        damaged or missing.
        """
        self._folder = folder
        self._encoding = encoding
        self._threads = threads
        stem = hashlib.sha256(encoding.fingerprint.encode()).hexdigest()[:16]
        self._index_file = folder / f"{stem}.index"
        self._index: NeighborIndex | None = None
        self._read_as: tuple[int, int] | None = None
        if make:
            with self._writable():
                folder.mkdir(parents=True, exist_ok=True)
        elif not (folder / f"{stem}.db").is_file():
            raise no_vectors(self._name, encoding, self.encodings(folder))
        self._database = _open(folder / f"{stem}.db")
        self._check()

    @staticmethod
    def encodings(folder: Path) -> list[Encoding]:
        """Return the encoders whose vectors are in `folder`."""
        found = []
        for file in sorted(folder.glob("*.db")):
            database = _open(file)
            with database.reading() as db:
                facts = _facts(db)
            database.close()
            if facts:
                found.append(Encoding(facts["encoder"], facts["fingerprint"], int(facts["dimension"])))
        return found

    @staticmethod
    def repair(folder: Path) -> None:
        """Delete damaged databases, and all indexes, which can be rebuilt."""
        for file in folder.glob("*.db"):
            try:
                database = _open(file)
                with database.reading() as db:
                    intact = db.execute("PRAGMA quick_check").fetchone() == ("ok",)
                    intact = intact and not db.execute(_ODD_VECTORS).fetchone()
                database.close()
            except DamagedError:
                intact = False
            if not intact:
                for part in folder.glob(f"{file.name}*"):
                    part.unlink()
        for file in folder.glob("*.index*"):
            file.unlink()

    def is_complete(self) -> bool:
        """See `VectorIndex.is_complete`."""
        with self._database.reading() as db:
            return "complete" in _facts(db)

    def count(self) -> int:
        """See `VectorIndex.count`."""
        with self._database.reading() as db:
            return _count(db)

    def pages(self, urls: Sequence[str] | None = None) -> Mapping[str, str]:
        """See `VectorIndex.pages`."""
        with self._database.reading() as db:
            if urls is None:
                return dict(db.execute("SELECT url, digest FROM pages"))
            query = "SELECT url, digest FROM pages WHERE url = ?"
            rows = (db.execute(query, (url,)).fetchone() for url in urls)
            return dict(row for row in rows if row)

    def known(self, urls: Iterable[str]) -> Mapping[bytes, Stored]:
        """See `VectorIndex.known`."""
        with self._database.reading() as db:
            return {
                text: np.frombuffer(vector, dtype=np.float16)
                for url in urls
                for text, vector in db.execute("SELECT text, vector FROM vectors WHERE url = ?", (url,))
            }

    def put(self, pages: Sequence[EncodedPage]) -> None:
        """See `VectorIndex.put`."""
        rows = [
            (page.url, number, text, vector.tobytes())
            for page in pages
            for number, (text, vector) in enumerate(zip(page.texts, page.vectors, strict=True))
        ]
        with self._database.writing() as db:
            db.executemany("DELETE FROM vectors WHERE url = ?", [(page.url,) for page in pages])
            db.executemany("INSERT INTO vectors (url, passage, text, vector) VALUES (?, ?, ?, ?)", rows)
            db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?)", [(p.url, p.digest) for p in pages])

    def remove(self, urls: Sequence[str]) -> None:
        """See `VectorIndex.remove`."""
        with self._database.writing() as db:
            for table in ("vectors", "pages"):
                db.executemany(f"DELETE FROM {table} WHERE url = ?", [(url,) for url in urls])  # noqa: S608

    def complete(self) -> None:
        """See `VectorIndex.complete`."""
        with self._writable():
            self._build()
        with self._database.writing() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES ('complete', 'yes')")
        with self._writable():
            for file in self._folder.iterdir():
                if not file.name.startswith(self._index_file.stem):
                    file.unlink()

    def search(self, vector: Vectors, limit: int) -> list[PassageMatch]:
        """See `VectorIndex.search`."""
        index = self._current_index()
        depth = limit
        while True:
            found = index.search(vector, depth)
            passages = self._passages(found.ids.tolist())
            matches = [
                PassageMatch(*passages[key], float(score))
                for key, score in zip(found.ids.tolist(), found.scores, strict=True)
                if key in passages
            ]
            # Deleted vectors, which stay in the index for a while, displaced others: search deeper.
            if len(matches) >= limit or len(found.ids) < depth:
                return matches[:limit]
            depth *= 2

    def close(self) -> None:
        """See `VectorIndex.close`."""
        self._database.close()

    def _check(self) -> None:
        name, fingerprint, dimension = self._encoding
        facts = {"encoder": name, "fingerprint": fingerprint, "dimension": str(dimension)}
        with self._database.reading() as db:
            stored = _facts(db)
        if not stored:
            with self._database.writing() as db:
                db.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        elif stored["dimension"] != facts["dimension"]:
            raise CollectionError(
                f"The vectors of the collection {self._name!r} have dimension {stored['dimension']}; the "
                f"encoder {name} has {dimension}, although its fingerprint is the same.",
                f"Nothing was changed. Encode again: citewell index --collection {self._name} --no-dense, "
                "then with --dense.",
            )

    def _build(self) -> None:
        with self._database.reading() as db:
            live = np.fromiter((key for (key,) in db.execute("SELECT id FROM vectors ORDER BY id")), np.int64)
        kind = kind_for(len(live))
        index = self._usable(live, kind)
        if index is None:
            sample = self._sample(live, kind)
            index = NeighborIndex.empty(kind, self._encoding.dimension, len(live), sample, self._threads)
        elif not len(live) or (len(index.ids) and index.ids[-1] >= live[-1]):
            return
        last = int(index.ids[-1]) if len(index.ids) else -1
        for ids, vectors in self._blocks(last):
            index.add(ids, vectors)
        index.write(self._index_file)

    def _usable(self, live: Ids, kind: Kind) -> NeighborIndex | None:
        """Return the existing index, if adding to it is better than rebuilding it."""
        try:
            index = NeighborIndex.read(self._index_file, self._encoding.dimension)
        except (FileNotFoundError, DamagedIndexError):
            return None
        deleted = len(index.ids) - int(np.isin(index.ids, live, assume_unique=True).sum())
        stale = deleted > _MAX_DELETED * len(index.ids) or index.kind != kind
        if stale or (kind == "ivf" and lists_for(len(live)) > _MAX_GROWTH**0.5 * index.lists):
            return None
        return index

    def _sample(self, live: Ids, kind: Kind) -> Stored:
        if kind != "ivf":
            return np.empty((0, self._encoding.dimension), dtype=np.float16)
        wanted = min(len(live), IVF_SAMPLE * lists_for(len(live)))
        chosen = np.sort(np.random.default_rng(0).choice(live, wanted, replace=False)).tolist()
        with self._database.reading() as db:
            rows = [
                db.execute("SELECT vector FROM vectors WHERE id = ?", (key,)).fetchone() for key in chosen
            ]
        return np.stack([self._vector(blob) for (blob,) in rows])

    def _blocks(self, last: int) -> Iterator[tuple[Ids, Stored]]:
        """Yield the vectors with ids larger than `last`, in blocks, ordered by id."""
        with self._database.reading() as db:
            rows = db.execute("SELECT id, vector FROM vectors WHERE id > ? ORDER BY id", (last,))
            while block := rows.fetchmany(_BLOCK):
                ids = np.array([key for key, _ in block], dtype=np.int64)
                yield ids, np.stack([self._vector(blob) for _, blob in block])

    def _vector(self, blob: bytes) -> Stored:
        vector = np.frombuffer(blob, dtype=np.float16)
        if len(vector) != self._encoding.dimension:
            raise ValueError(f"a vector has dimension {len(vector)}")  # `reading` adds what to do
        return vector

    def _passages(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        """Return the URL and passage number of each id that still exists."""
        passages = {}
        with self._database.reading() as db:
            for start in range(0, len(ids), _VARIABLES):
                some = ids[start : start + _VARIABLES]
                marks = ",".join("?" * len(some))
                query = f"SELECT id, url, passage FROM vectors WHERE id IN ({marks})"  # noqa: S608
                passages.update({key: (url, passage) for key, url, passage in db.execute(query, some)})
        return passages

    def _current_index(self) -> NeighborIndex:
        """Return the index, read again if another process has replaced it."""
        try:
            state = self._index_file.stat()
            read_as = (state.st_mtime_ns, state.st_ino)
            if self._index is None or self._read_as != read_as:
                self._index = NeighborIndex.read(self._index_file, self._encoding.dimension)
                self._read_as = read_as
        except (OSError, DamagedIndexError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise CollectionError(
                f"The index of the vectors of the collection {self._name!r} cannot be used: {reason}.",
                f"Rebuild it from the stored vectors: citewell index --collection {self._name} --rebuild",
            ) from error
        return self._index

    @property
    def _name(self) -> str:
        return self._folder.parent.name

    @contextmanager
    def _writable(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise CollectionError(
                f"The vectors of the collection {self._name!r} cannot be written: {error}.",
                f"Check the free space and the permissions of {self._folder}. No stored data is lost.",
            ) from error


def _open(file: Path) -> CollectionDatabase:
    name = file.parents[1].name
    return CollectionDatabase(
        file,
        _SCHEMA,
        what=f"The vectors of the collection {name!r}",
        cure=f"Encode its passages again: citewell index --collection {name} --rebuild",
    )


def _facts(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, value FROM facts"))


def _count(db: sqlite3.Connection) -> int:
    (number,) = db.execute("SELECT count(*) FROM vectors").fetchone()
    return int(number)
