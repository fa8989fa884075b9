"""Vectors in PostgreSQL with pgvector.

It needs pgvector (https://github.com/pgvector/pgvector) 0.7 or later, for half-precision vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from citewell.core.errors import CollectionError
from citewell.core.packages import need_packages
from citewell.retriever.collection.postgres.schema import key_of
from citewell.retriever.collection.postgres.server import PostgresServer
from citewell.retriever.collection.vectors import EncodedPage, Encoding, PassageMatch, Stored, no_vectors
from citewell.retriever.encoder.encoder import Vectors

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

T = TypeVar("T")

# The tables of one encoding; their names contain its id.
_TABLES = (
    "CREATE TABLE {encoded} (key uuid PRIMARY KEY, url text NOT NULL, digest text NOT NULL)",
    "CREATE TABLE {vectors} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "page uuid NOT NULL REFERENCES {encoded} ON DELETE CASCADE, passage integer NOT NULL, "
    "text bytea NOT NULL, vector halfvec({number}) NOT NULL)",
    "CREATE INDEX ON {vectors} (page)",
)
_SEARCH = """
SELECT url, passage, score FROM (
    SELECT page, passage, -(vector <#> %(vector)s::halfvec) AS score FROM {vectors}
    ORDER BY vector <#> %(vector)s::halfvec LIMIT %(limit)s
) AS nearest JOIN {encoded} ON key = page ORDER BY score DESC, url, passage
"""
# Max vectors for exact search; above, PostgreSQL searches an HNSW index.
_EXACT_MAX = 20_000
_HNSW_SEARCH = 200
_MAX_HNSW_SEARCH = 1000  # pgvector's limit
# Memory of an HNSW index while it is built: per vector besides its values, and at most.
_HNSW_BYTES = 700
_MAX_BUILD_KILOBYTES = 2_000_000


class PostgresVectors:
    """The vectors of one encoder and one collection; implements `VectorIndex`.

    All searching happens in the database.
    """

    def __init__(
        self,
        server: PostgresServer,
        name: str,
        collection: int,
        encoding: Encoding,
        connection: Connection | None = None,
        *,
        exact_max: int = _EXACT_MAX,
    ) -> None:
        """Open the vectors of the collection; with a `connection`, to write them, and make missing tables.

        `exact_max` is the max number of vectors searched without an index. Raises `CollectionError` if the
        server has no pgvector, or if the vectors are missing.
        """
        need_packages("Vectors in PostgreSQL", "postgres", "pgvector")
        self._server = server
        self._collection = collection
        self._connection = connection
        self._dimension = encoding.dimension
        self._exact_max = exact_max
        if connection:
            with server.explained():
                self._make(connection, encoding)
        query = "SELECT id, dimension, encoder, fingerprint FROM citewell_encodings WHERE collection = %s"
        rows = self._run(lambda connection: connection.execute(query, (collection,)).fetchall())
        stored = {Encoding(encoder, fingerprint, of): key for key, of, encoder, fingerprint in rows}
        same = [one for one in stored if one.fingerprint == encoding.fingerprint]
        if not same:
            raise no_vectors(name, encoding, list(stored))
        if same[0].dimension != encoding.dimension:
            raise CollectionError(
                f"The vectors of the collection {name!r} in {server.address} have dimension "
                f"{same[0].dimension}; the encoder {encoding.name} has {encoding.dimension}, although its "
                "fingerprint is the same.",
                "Nothing was changed. Use the encoder that made them, or encode again: citewell index "
                f"--collection {name} --no-dense, and then with --dense.",
            )
        self._id = stored[same[0]]

    @staticmethod
    def drop(connection: Connection, collection: int, keep: int = -1) -> None:
        """Delete the vectors of all encoders but one, in a transaction of the caller."""
        query = "DELETE FROM citewell_encodings WHERE collection = %s AND id != %s RETURNING id"
        for (old,) in connection.execute(query, (collection, keep)).fetchall():
            connection.execute(_sql("DROP TABLE {vectors}, {encoded}", old, 0))

    def is_complete(self) -> bool:
        """See `VectorIndex.is_complete`."""
        return bool(self._rows("SELECT complete FROM citewell_encodings WHERE id = %s", self._id)[0][0])

    def count(self) -> int:
        """See `VectorIndex.count`."""
        return int(self._rows("SELECT count(*) FROM {vectors}")[0][0])

    def pages(self, urls: Sequence[str] | None = None) -> Mapping[str, str]:
        """See `VectorIndex.pages`."""
        if urls is None:
            return dict(self._rows("SELECT url, digest FROM {encoded}"))
        return dict(self._rows("SELECT url, digest FROM {encoded} WHERE key = ANY(%s)", _keys(urls)))

    def known(self, urls: Iterable[str]) -> Mapping[bytes, Stored]:
        """See `VectorIndex.known`."""
        rows = self._rows("SELECT text, vector::real[] FROM {vectors} WHERE page = ANY(%s)", _keys(urls))
        return {bytes(text): np.array(vector, dtype=np.float16) for text, vector in rows}

    def put(self, pages: Sequence[EncodedPage]) -> None:
        """See `VectorIndex.put`."""
        from pgvector import HalfVector

        rows = sorted((key_of(page.url), page.url, page.digest) for page in pages)
        upsert = self._sql(
            "INSERT INTO {encoded} VALUES (%s, %s, %s) "
            "ON CONFLICT (key) DO UPDATE SET digest = excluded.digest"
        )
        copy_in = self._sql("COPY {vectors} (page, passage, text, vector) FROM STDIN WITH (FORMAT BINARY)")

        def write(connection: Connection) -> None:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(upsert, rows)
                keys = [key for key, *_ in rows]
                cursor.execute(self._sql("DELETE FROM {vectors} WHERE page = ANY(%s)"), (keys,))
                with cursor.copy(copy_in) as copy:
                    copy.set_types(["uuid", "int4", "bytea", "halfvec"])
                    for page in pages:
                        for number, (text, vector) in enumerate(zip(page.texts, page.vectors, strict=True)):
                            copy.write_row((key_of(page.url), number, text, HalfVector(vector)))

        self._run(write)

    def remove(self, urls: Sequence[str]) -> None:
        """See `VectorIndex.remove`."""
        query = self._sql("DELETE FROM {encoded} WHERE key = ANY(%s)")
        self._run(lambda connection: connection.execute(query, (_keys(urls),)))

    def complete(self) -> None:
        """See `VectorIndex.complete`."""
        number = self.count()
        memory = min(number * (2 * self._dimension + _HNSW_BYTES) // 1000 + 65_536, _MAX_BUILD_KILOBYTES)
        build = "CREATE INDEX IF NOT EXISTS {index} ON {vectors} USING hnsw (vector halfvec_ip_ops)"

        def write(connection: Connection) -> None:
            with connection.transaction():
                # One run at a time builds the index.
                connection.execute(
                    "SELECT 1 FROM citewell_collections WHERE id = %s FOR UPDATE", (self._collection,)
                )
                if number > self._exact_max:
                    connection.execute(_sql("SET LOCAL maintenance_work_mem = {number}", 0, memory))
                    connection.execute(self._sql(build))
                connection.execute("UPDATE citewell_encodings SET complete = true WHERE id = %s", (self._id,))
                self.drop(connection, self._collection, keep=self._id)

        self._run(write)

    def search(self, vector: Vectors, limit: int) -> list[PassageMatch]:
        """See `VectorIndex.search`."""
        from pgvector import HalfVector

        asked = HalfVector(np.asarray(vector, dtype=np.float16)).to_text()
        breadth = min(max(_HNSW_SEARCH, limit), _MAX_HNSW_SEARCH)

        def read(connection: Connection) -> list[Any]:
            with connection.transaction():
                connection.execute(_sql("SET LOCAL hnsw.ef_search = {number}", 0, breadth))
                return connection.execute(self._sql(_SEARCH), {"vector": asked, "limit": limit}).fetchall()

        return [PassageMatch(url, passage, float(score)) for url, passage, score in self._run(read)]

    def close(self) -> None:
        """See `VectorIndex.close`. The connections belong to the catalog."""

    def _make(self, connection: Connection, encoding: Encoding) -> None:
        from pgvector.psycopg import register_vector

        name, fingerprint, dimension = encoding
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('citewell', 0))")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            row = connection.execute(
                "INSERT INTO citewell_encodings (collection, encoder, fingerprint, dimension) "
                "VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING id",
                (self._collection, name, fingerprint, dimension),
            ).fetchone()
            if row is not None:
                for statement in _TABLES:
                    connection.execute(_sql(statement, row[0], dimension))
        register_vector(connection)

    def _rows(self, query: str, *values: object) -> list[Any]:
        return self._run(lambda connection: connection.execute(self._sql(query), values).fetchall())

    def _run(self, work: Callable[[Connection], T]) -> T:
        if self._connection is None:
            return self._server.run(work)
        with self._server.explained():
            return work(self._connection)

    def _sql(self, text: str) -> Composed:
        return _sql(text, self._id, self._dimension)


def _keys(urls: Iterable[str]) -> list[Any]:
    return [key_of(url) for url in urls]


def _sql(text: str, encoding: int, number: int) -> Composed:
    from psycopg.sql import SQL, Identifier, Literal

    return SQL(text).format(  # every text is a literal of this module
        encoded=Identifier(f"citewell_encoded_{encoding}"),
        vectors=Identifier(f"citewell_vectors_{encoding}"),
        index=Identifier(f"citewell_hnsw_{encoding}"),
        number=Literal(number),
    )
