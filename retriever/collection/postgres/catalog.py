"""The collections in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from citewell.core.errors import CollectionError
from citewell.retriever.collection.naming import check_name, missing_collection
from citewell.retriever.collection.postgres import schema
from citewell.retriever.collection.postgres.server import PostgresServer
from citewell.retriever.collection.postgres.store import PostgresStore
from citewell.retriever.collection.postgres.vectors import PostgresVectors
from citewell.retriever.collection.protocol import CollectionVersion

if TYPE_CHECKING:
    from psycopg import Connection

_LOCK = "hashtextextended('citewell:' || %s, 0)"  # shared by the runs that fill a collection


class PostgresCatalog:
    """The collections of one database; implements `Catalog`. Any thread may call its methods."""

    def __init__(self, url: str) -> None:
        """`url` is such as `postgresql://user:password@host/name`; no connection is made yet."""
        self._server = PostgresServer(url)

    def names(self) -> list[str]:
        """See `Catalog.names`."""

        def read(connection: Connection) -> list[str]:
            if not schema.exists(connection, self._server.address):
                return []
            query = 'SELECT name FROM citewell_collections ORDER BY name COLLATE "C"'
            return [name for (name,) in connection.execute(query)]

        return self._server.run(read)

    def version(self, name: str) -> CollectionVersion | None:
        """See `Catalog.version`."""
        check_name(name)

        def read(connection: Connection) -> CollectionVersion | None:
            if not schema.exists(connection, self._server.address):
                return None
            query = "SELECT id, changes FROM citewell_collections WHERE name = %s"
            row = connection.execute(query, (name,)).fetchone()
            return CollectionVersion(str(row[0]), str(row[1])) if row else None

        return self._server.run(read)

    def open(self, name: str) -> PostgresStore:
        """See `Catalog.open`."""
        version = self.version(name)
        if version is None:
            raise missing_collection(name, self.names())
        return PostgresStore(self._server, name, int(version.identity))

    @contextmanager
    def writing(
        self, name: str, on_wait: Callable[[], None] = lambda: None, *, rebuild: bool = False
    ) -> Iterator[PostgresStore]:
        """See `Catalog.writing`. Any number of runs may write at once, but a rebuild waits for its turn."""
        check_name(name)
        connection = self._server.connect()
        kind = "" if rebuild else "_shared"
        try:
            with self._server.explained():
                row = connection.execute(f"SELECT pg_try_advisory_lock{kind}({_LOCK})", (name,)).fetchone()
                if not (row and row[0]):
                    on_wait()
                    connection.execute(f"SELECT pg_advisory_lock{kind}({_LOCK})", (name,))
                collection = schema.make(connection, self._server.address, name)
            store = PostgresStore(self._server, name, collection, connection)
            if rebuild:
                store.rebuild()
            else:
                store.commit()  # what an interrupted run left
            yield store
        finally:
            with suppress(Exception):  # or the locks stay for a moment after the connection is closed
                connection.execute("SELECT pg_advisory_unlock_all()")
            connection.close()

    def remove(self, name: str) -> None:
        """See `Catalog.remove`."""
        check_name(name)
        names = self.names()
        if name not in names:
            raise missing_collection(name, names)

        def drop(connection: Connection) -> bool:
            with connection.transaction():
                row = connection.execute(f"SELECT pg_try_advisory_xact_lock({_LOCK})", (name,)).fetchone()
                collection = schema.find(connection, name)
                if row and row[0] and collection is not None:
                    PostgresVectors.drop(connection, collection)
                    schema.drop(connection, collection)
                return bool(row and row[0])

        if not self._server.run(drop):
            raise CollectionError(
                f"Another run is writing the collection {name!r}.", "Remove it when that run has ended."
            )
