"""A collection in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from citewell.core.subject import named
from citewell.core.types import Page
from citewell.retriever.collection.page_scores import PageHit
from citewell.retriever.collection.postgres.frontier import PostgresFrontier
from citewell.retriever.collection.postgres.schema import key_of, sql, storable
from citewell.retriever.collection.postgres.server import PostgresServer
from citewell.retriever.collection.postgres.vectors import PostgresVectors
from citewell.retriever.collection.postgres.words import (
    add_words,
    fold_counts,
    frequency,
    remove_words,
    search_words,
    titles_near,
)
from citewell.retriever.collection.store import dump_date, dump_passages, load_page
from citewell.retriever.collection.vectors import Encoding

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

_BLOCK = 1000  # pages deleted, or rebuilt, by one statement
_CLAIM = (
    "SELECT url FROM unnest(%s::text[]) AS url WHERE pg_try_advisory_lock(hashtextextended(%s || url, 0))"
)
_RELEASE = "SELECT pg_advisory_unlock(hashtextextended(%s || url, 0)) FROM unnest(%s::text[]) AS url"
_UPSERT = """
INSERT INTO {pages} VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO UPDATE
SET source = excluded.source, digest = excluded.digest, title = excluded.title, names = excluded.names,
    passages = excluded.passages, date = excluded.date
"""


class PostgresStore:
    """One collection; implements `CollectionStore` and, with its own connection, `CollectionWriter`.

    A page and its words are written in one transaction, so that a search sees whole pages, also while runs
    write. Claims are advisory locks of the connection: those of a run that was killed are free again.
    """

    def __init__(
        self, server: PostgresServer, name: str, collection: int, connection: Connection | None = None
    ) -> None:
        """Open the collection with this id; `PostgresCatalog` knows it. `connection` is for writing."""
        self.name = name
        self._server = server
        self._id = collection
        self._connection = connection

    def read(self, urls: Sequence[str]) -> dict[str, Page]:
        """See `CollectionStore.read`."""
        query = sql("SELECT url, title, passages, date FROM {pages} WHERE key = ANY(%s)", self._id)
        keys = [key_of(url) for url in urls]
        rows = self._run(lambda connection: connection.execute(query, (keys,)).fetchall())
        found = {page.url: page for page in (load_page(*row) for row in rows)}
        return {url: found[url] for url in urls if url in found}

    def search(self, query: str, limit: int) -> list[PageHit]:
        """See `CollectionStore.search`."""
        return self._run(lambda connection: search_words(connection, self._id, query, limit))

    def frequency(self, word: str) -> int:
        """See `CollectionStore.frequency`."""
        return self._run(lambda connection: frequency(connection, self._id, word))

    def titles_near(self, word: str, edits: int) -> list[str]:
        """See `CollectionStore.titles_near`."""
        return self._run(lambda connection: titles_near(connection, self._id, word, edits))

    def digests(self, urls: Sequence[str] | None = None) -> dict[str, str]:
        """See `CollectionStore.digests`."""
        if urls is None:
            return dict(self._rows("SELECT url, digest FROM {pages}"))
        keys = [key_of(url) for url in urls]
        return dict(self._rows("SELECT url, digest FROM {pages} WHERE key = ANY(%s)", keys))

    def count(self) -> int:
        """See `CollectionStore.count`."""
        return int(self._rows("SELECT count(*) FROM {pages}")[0][0])

    def sources(self) -> list[str]:
        """See `CollectionStore.sources`."""
        return [source for (source,) in self._rows("SELECT DISTINCT source FROM {pages} ORDER BY source")]

    def urls(self, source: str) -> list[str]:
        """See `CollectionStore.urls`."""
        rows = self._rows("SELECT url FROM {pages} WHERE source = %s", storable(source))
        return sorted(url for (url,) in rows)

    def size(self) -> int:
        """See `CollectionStore.size`."""
        names = [f"citewell_{name}_{self._id}" for name in ("pages", "passages", "terms", "new_terms")]
        for encoding in self._rows("SELECT id FROM citewell_encodings WHERE collection = %s", self._id):
            names += [f"citewell_encoded_{encoding[0]}", f"citewell_vectors_{encoding[0]}"]
        query = "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name"
        return int(self._rows(query, names)[0][0])

    def is_dense(self) -> bool:
        """See `CollectionStore.is_dense`."""
        rows = self._rows("SELECT dense FROM citewell_collections WHERE id = %s", self._id)
        return bool(rows and rows[0][0])

    def encodings(self) -> list[Encoding]:
        """See `CollectionStore.encodings`."""
        query = "SELECT encoder, fingerprint, dimension FROM citewell_encodings WHERE collection = %s"
        return [Encoding(*row) for row in self._rows(query, self._id)]

    def vectors(self, encoding: Encoding) -> PostgresVectors:
        """See `CollectionStore.vectors`."""
        return PostgresVectors(self._server, self.name, self._id, encoding)

    def close(self) -> None:
        """See `CollectionStore.close`. The connections belong to the catalog."""

    def claim(self, stage: str, urls: Sequence[str]) -> set[str]:
        """See `CollectionWriter.claim`."""
        rows = self._run(lambda connection: connection.execute(_CLAIM, (list(urls), self._stage(stage))))
        return {url for (url,) in rows}

    def release(self, stage: str, urls: Iterable[str]) -> None:
        """See `CollectionWriter.release`."""
        released = list(urls)
        self._run(lambda connection: connection.execute(_RELEASE, (self._stage(stage), released)))

    def put(self, source: str, pages: Sequence[tuple[Page, str]]) -> None:
        """See `CollectionWriter.put`."""
        last = {key_of(page.url): (page, digest) for page, digest in pages}
        # In one order, so that runs that write the same pages wait for each other instead of deadlocking.
        keys = sorted(last)
        rows = [
            (
                key,
                *map(storable, (page.url, source, digest, page.title)),
                sorted(named(page.title)),
                dump_passages(page.passages),
                dump_date(page),
            )
            for key, (page, digest) in sorted(last.items())
        ]

        def write(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(sql(_UPSERT, self._id), rows)
                remove_words(connection, self._id, keys)
                add_words(connection, self._id, (last[key][0] for key in keys))

        self._run(write)

    def drop(self, url: str) -> bool:
        """See `CollectionWriter.drop`."""
        return self._delete([url]) > 0

    def forget(self, source: str, keep: set[str]) -> list[str]:
        """See `CollectionWriter.forget`."""
        gone = [url for url in self.urls(source) if url not in keep]
        for start in range(0, len(gone), _BLOCK):
            self._delete(gone[start : start + _BLOCK])
        return gone

    def commit(self) -> None:
        """See `CollectionWriter.commit`. Pages are searchable before; here, counts of terms are folded."""

        lock = self._stage("fold")

        def fold(connection: Connection) -> None:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (lock,))
                if fold_counts(connection, self._id):
                    connection.execute(
                        "UPDATE citewell_collections SET changes = changes + 1 WHERE id = %s", (self._id,)
                    )

        self._run(fold)

    def rebuild(self) -> None:
        """Write the words of all pages again, and the index of vectors at the next encoding."""

        def write(connection: Connection) -> None:
            with connection.transaction():
                keys = [key for (key,) in connection.execute(sql("SELECT key FROM {pages}", self._id))]
                connection.execute(sql("DELETE FROM {passages}", self._id))
                connection.execute(sql("DELETE FROM {terms}", self._id))
                connection.execute(sql("DELETE FROM {new_terms}", self._id))
                query = sql("SELECT url, title, passages, date FROM {pages} WHERE key = ANY(%s)", self._id)
                for start in range(0, len(keys), _BLOCK):
                    rows = connection.execute(query, (keys[start : start + _BLOCK],)).fetchall()
                    add_words(connection, self._id, (load_page(*row) for row in rows))

        self._run(write)
        self.commit()

    def frontier(self, start: str) -> PostgresFrontier:
        """See `CollectionWriter.frontier`."""
        assert self._connection is not None
        return PostgresFrontier(self._server, self._connection, self._id, start)

    def may_be_dense(self) -> bool:
        """See `CollectionWriter.may_be_dense`. Never: not every server has pgvector."""
        return False

    def set_dense(self, dense: bool) -> None:
        """See `CollectionWriter.set_dense`."""

        def write(connection: Connection) -> None:
            with connection.transaction():
                query = "UPDATE citewell_collections SET dense = %s WHERE id = %s"
                connection.execute(query, (dense, self._id))
                if not dense:
                    PostgresVectors.drop(connection, self._id)

        self._run(write)

    def make_vectors(self, encoding: Encoding) -> PostgresVectors:
        """See `CollectionWriter.make_vectors`."""
        return PostgresVectors(self._server, self.name, self._id, encoding, self._connection)

    def _delete(self, urls: Sequence[str]) -> int:
        keys = sorted(key_of(url) for url in urls)
        lock = sql("SELECT 1 FROM {pages} WHERE key = ANY(%s) ORDER BY key FOR UPDATE", self._id)
        delete = sql("DELETE FROM {pages} WHERE key = ANY(%s)", self._id)

        def write(connection: Connection) -> int:
            with connection.transaction():
                connection.execute(lock, (keys,))
                remove_words(connection, self._id, keys)
                return connection.execute(delete, (keys,)).rowcount

        return self._run(write)

    def _stage(self, stage: str) -> str:
        return f"citewell:{self._id}:{stage}:"

    def _rows(self, query: str, *values: object) -> list[Any]:
        return self._run(lambda connection: connection.execute(sql(query, self._id), values).fetchall())

    def _run(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            return self._server.run(work)
        with self._server.explained():
            return work(self._connection)
