"""Vectors in PostgreSQL with pgvector, for collections that several computers search.

It needs pgvector (https://github.com/pgvector/pgvector) 0.7 or later, for half-precision vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.errors import CollectionError
from citewell.core.packages import install_command
from citewell.retriever.collection.vectors import EncodedPage, Encoding, PassageMatch, Stored, other_encoder
from citewell.retriever.encoder.encoder import Vectors

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

_SCHEMA = """
CREATE TABLE IF NOT EXISTS citewell_encodings (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection text NOT NULL,
    encoder text NOT NULL,
    fingerprint text NOT NULL,
    dimension integer NOT NULL,
    complete boolean NOT NULL DEFAULT false,
    UNIQUE (collection, fingerprint)
)
"""
# The tables of one encoding; their names contain its id.
_TABLES = (
    "CREATE TABLE {pages} (url text PRIMARY KEY, digest text NOT NULL)",
    "CREATE TABLE {vectors} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "url text NOT NULL REFERENCES {pages} ON DELETE CASCADE, passage integer NOT NULL, text bytea NOT NULL, "
    "vector halfvec({dimension}) NOT NULL)",
    "CREATE INDEX ON {vectors} (url)",
)
# Max vectors for exact search; above, PostgreSQL searches an HNSW index.
_EXACT_MAX = 20_000
_HNSW_SEARCH = 200
_MAX_HNSW_SEARCH = 1000  # pgvector's limit
_SECONDS = 10  # connection timeout
_UNREACHABLE = "Check that the server is running, and the host, user and password in collection.vectors."


class PostgresVectors:
    """The vectors of one encoder and one collection, in their own tables.

    All searching happens in the database. A broken connection is reopened. Errors name the server but never
    the password.
    """

    def __init__(
        self,
        url: str,
        collection: str,
        encoding: Encoding,
        *,
        make: bool = False,
        exact_max: int = _EXACT_MAX,
    ) -> None:
        """Connect to the database at `url`, such as `postgresql://user:password@host/name`.

        With `make`, missing tables are created, and other processes that write the same collection wait.
        `exact_max` is the max number of vectors searched without an index. Raises `CollectionError` if the
        server cannot be reached or has no pgvector, or if the vectors are missing.
        """
        self._server = _Server(url, collection)
        self._collection = collection
        self._dimension = encoding.dimension
        self._exact_max = exact_max
        self._connection = self._server.connect()
        try:
            with self._server.explained():
                if make:
                    self._make(encoding)
                row = self._find(encoding)
            if row is None:
                raise other_encoder(collection, encoding, self._server.encodings(self._connection))
            self._id, dimension = row
            if dimension != encoding.dimension:
                raise CollectionError(
                    f"The vectors of the collection {collection!r} in {self._server.address} have dimension "
                    f"{dimension}; the encoder {encoding.name} has {encoding.dimension}, although its "
                    "fingerprint is the same.",
                    "Nothing was changed. Use the encoder that made them, or encode again: citewell index "
                    f"--collection {collection} --no-dense, and then with --dense.",
                )
            with self._server.explained():
                _register(self._connection)
        except BaseException:
            self._connection.close()
            raise

    @staticmethod
    def encodings(url: str, collection: str) -> list[Encoding]:
        """Return the encoders of this collection's vectors in the database."""
        server = _Server(url, collection)
        with server.connect() as connection:
            return server.encodings(connection)

    @staticmethod
    def drop(url: str, collection: str) -> None:
        """Delete all vectors of a collection."""
        server = _Server(url, collection)
        with server.connect() as connection, server.explained(), connection.transaction():
            if _exists(connection):
                _drop(connection, collection, keep=-1)

    def is_complete(self) -> bool:
        """See `VectorIndex.is_complete`."""
        query = "SELECT complete FROM citewell_encodings WHERE id = %s"
        return bool(self._read(self._plain(query), (self._id,))[0][0])

    def count(self) -> int:
        """See `VectorIndex.count`."""
        return int(self._read(self._sql("SELECT count(*) FROM {vectors}"))[0][0])

    def pages(self) -> Mapping[str, str]:
        """See `VectorIndex.pages`."""
        return dict(self._read(self._sql("SELECT url, digest FROM {pages}")))

    def known(self, urls: Iterable[str]) -> Mapping[bytes, Stored]:
        """See `VectorIndex.known`."""
        rows = self._read(self._sql("SELECT text, vector FROM {vectors} WHERE url = ANY(%s)"), (list(urls),))
        return {bytes(text): np.asarray(vector.to_numpy(), dtype=np.float16) for text, vector in rows}

    def put(self, pages: Sequence[EncodedPage]) -> None:
        """See `VectorIndex.put`."""
        from pgvector import HalfVector

        urls = [page.url for page in pages]
        copy_in = self._sql("COPY {vectors} (url, passage, text, vector) FROM STDIN WITH (FORMAT BINARY)")
        with self._writing() as cursor:
            cursor.execute(self._sql("DELETE FROM {pages} WHERE url = ANY(%s)"), (urls,))
            rows = [(page.url, page.digest) for page in pages]
            cursor.executemany(self._sql("INSERT INTO {pages} VALUES (%s, %s)"), rows)
            with cursor.copy(copy_in) as copy:
                copy.set_types(["text", "int4", "bytea", "halfvec"])
                for page in pages:
                    for number, (text, vector) in enumerate(zip(page.texts, page.vectors, strict=True)):
                        copy.write_row((page.url, number, text, HalfVector(vector)))

    def remove(self, urls: Sequence[str]) -> None:
        """See `VectorIndex.remove`."""
        with self._writing() as cursor:
            cursor.execute(self._sql("DELETE FROM {pages} WHERE url = ANY(%s)"), (list(urls),))

    def complete(self) -> None:
        """See `VectorIndex.complete`."""
        indexed = self.count() > self._exact_max
        with self._writing() as cursor:
            if indexed:
                cursor.execute(
                    self._sql(
                        "CREATE INDEX IF NOT EXISTS {index} ON {vectors} USING hnsw (vector halfvec_ip_ops)"
                    )
                )
            cursor.execute("UPDATE citewell_encodings SET complete = true WHERE id = %s", (self._id,))
            _drop(self._connection, self._collection, keep=self._id)

    def search(self, vector: Vectors, limit: int) -> list[PassageMatch]:
        """See `VectorIndex.search`."""
        from pgvector import HalfVector

        query = self._sql(
            "SELECT url, passage, -(vector <#> %s) FROM {vectors} ORDER BY vector <#> %s, id LIMIT %s"
        )
        query_vector = HalfVector(np.asarray(vector, dtype=np.float16))
        breadth = min(max(_HNSW_SEARCH, limit), _MAX_HNSW_SEARCH)
        rows = self._read(query, (query_vector, query_vector, limit), f"SET LOCAL hnsw.ef_search = {breadth}")
        return [PassageMatch(url, passage, float(score)) for url, passage, score in rows]

    def close(self) -> None:
        """See `VectorIndex.close`."""
        self._connection.close()

    def _make(self, encoding: Encoding) -> None:
        connection = self._connection
        connection.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", (self._collection,))
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('citewell', 0))")
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute(_SCHEMA)
            if self._find(encoding):
                return
            name, fingerprint, dimension = encoding
            row = connection.execute(
                "INSERT INTO citewell_encodings (collection, encoder, fingerprint, dimension) "
                "VALUES (%s, %s, %s, %s) RETURNING id",
                (self._collection, name, fingerprint, dimension),
            ).fetchone()
            assert row is not None
            for statement in _TABLES:
                connection.execute(_sql(statement, row[0], dimension))

    def _find(self, encoding: Encoding) -> tuple[int, int] | None:
        if not _exists(self._connection):
            return None
        return self._connection.execute(
            "SELECT id, dimension FROM citewell_encodings WHERE collection = %s AND fingerprint = %s",
            (self._collection, encoding.fingerprint),
        ).fetchone()

    def _read(self, query: Composed, values: Sequence[Any] = (), setting: str = "") -> list[Any]:
        from psycopg import OperationalError

        for attempt in ("first", "last"):
            with self._server.explained():
                try:
                    with self._connection.transaction():
                        if setting:
                            self._connection.execute(self._plain(setting))
                        return self._connection.execute(query, values).fetchall()
                except OperationalError:
                    if attempt == "last" or not self._connection.closed:
                        raise
            self._connection = self._server.connect()
            with self._server.explained():
                _register(self._connection)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _writing(self) -> Iterator[Any]:
        with (
            self._server.explained(),
            self._connection.transaction(),
            self._connection.cursor() as cursor,
        ):
            yield cursor

    def _sql(self, text: str) -> Composed:
        return _sql(text, self._id, self._dimension)

    def _plain(self, text: str) -> Composed:
        return _sql(text, 0, 0)


class _Server:
    """A database server: connects to it, and reports its failures without the password."""

    def __init__(self, url: str, collection: str) -> None:
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise CollectionError(
                "Vectors in PostgreSQL need the packages psycopg and pgvector, which are not installed.",
                install_command("postgres"),
            ) from error
        self._url = url
        self._collection = collection
        try:
            parts = conninfo_to_dict(url)
        except ProgrammingError:  # its text and its traceback contain the password
            parts = None
        if parts is None:
            raise CollectionError(
                "The setting collection.vectors is not a PostgreSQL URL.",
                "Write it as postgresql://user:password@host:5432/database.",
            )
        self._password = str(parts.get("password") or "")
        self._seconds = parts.get("connect_timeout") or _SECONDS
        host, port = parts.get("host") or "localhost", parts.get("port") or 5432
        self.address = f"PostgreSQL at {host}:{port}"

    def connect(self) -> Connection:
        """Open a connection that commits each statement outside a transaction."""
        import psycopg

        try:
            return psycopg.connect(self._url, autocommit=True, connect_timeout=int(self._seconds))
        except psycopg.Error as error:
            raise CollectionError(
                f"{self.address}, which stores the vectors of the collection {self._collection!r}, cannot be "
                f"used: {self._safe(error)}.",
                _UNREACHABLE,
            ) from None

    def encodings(self, connection: Connection) -> list[Encoding]:
        """Return the encoders of the collection's vectors on this server."""
        with self.explained():
            if not _exists(connection):
                return []
            query = "SELECT encoder, fingerprint, dimension FROM citewell_encodings WHERE collection = %s"
            return [Encoding(*row) for row in connection.execute(query, (self._collection,))]

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the errors of the block into `CollectionError`."""
        from psycopg import Error, errors

        try:
            yield
        except (errors.FeatureNotSupported, errors.UndefinedFile, errors.UndefinedObject) as error:
            raise CollectionError(
                f"{self.address} has no pgvector, or a version before 0.7: {self._safe(error)}.",
                "Install it (https://github.com/pgvector/pgvector), then run CREATE EXTENSION vector, or "
                "ALTER EXTENSION vector UPDATE, in the database.",
            ) from None
        except errors.InsufficientPrivilege as error:
            raise CollectionError(
                f"{self.address} denied permission: {self._safe(error)}.",
                "Ask an administrator to run CREATE EXTENSION vector in the database and to let the user "
                "create tables.",
            ) from None
        except Error as error:
            raise CollectionError(
                f"The vectors of the collection {self._collection!r} in {self.address} cannot be read or "
                f"written: {self._safe(error)}.",
                f"{_UNREACHABLE} Everything written before is kept.",
            ) from None

    def _safe(self, error: Exception) -> str:
        text = " ".join(str(error).split()).rstrip(".")
        return text.replace(self._password, "***") if self._password else text


def _register(connection: Connection) -> None:
    from pgvector.psycopg import register_vector

    register_vector(connection)


def _exists(connection: Connection) -> bool:
    row = connection.execute("SELECT to_regclass('citewell_encodings')").fetchone()
    return row is not None and row[0] is not None


def _drop(connection: Connection, collection: str, keep: int) -> None:
    rows = connection.execute(
        "DELETE FROM citewell_encodings WHERE collection = %s AND id != %s RETURNING id", (collection, keep)
    ).fetchall()
    for (old,) in rows:
        connection.execute(_sql("DROP TABLE {vectors}, {pages}", old, 0))


def _sql(text: str, encoding: int, dimension: int) -> Composed:
    from psycopg.sql import SQL, Identifier, Literal

    return SQL(text).format(  # every text is a literal of this module
        pages=Identifier(f"citewell_pages_{encoding}"),
        vectors=Identifier(f"citewell_vectors_{encoding}"),
        index=Identifier(f"citewell_hnsw_{encoding}"),
        dimension=Literal(dimension),
    )
