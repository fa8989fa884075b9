"""The queue of a crawl in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from citewell.retriever.collection.frontier import Queued, State
from citewell.retriever.collection.postgres.schema import key_of, sql, storable
from citewell.retriever.collection.postgres.server import PostgresServer

if TYPE_CHECKING:
    from psycopg import Connection


class PostgresFrontier:
    """The queue of the crawl from `start`, which this run has claimed; implements `Frontier`."""

    def __init__(self, server: PostgresServer, connection: Connection, collection: int, start: str) -> None:
        """Begin a crawl, or resume an interrupted one from the same `start`."""
        self._server = server
        self._connection = connection
        self._collection = collection
        self._start = key_of(start)
        self._insert([(start, 0, "queued")])

    def next(self) -> Queued | None:
        """See `Frontier.next`."""
        query = (
            "SELECT url, depth FROM {frontier} WHERE start = %s AND state = 'queued' "
            "ORDER BY depth, place LIMIT 1"
        )
        rows = self._read(query, self._start)
        return Queued(*rows[0]) if rows else None

    def settle(self, states: Mapping[str, State], links: Iterable[str], depth: int) -> None:
        """See `Frontier.settle`."""
        with self._server.explained(), self._connection.transaction():
            self._insert(
                [(url, depth, state) for url, state in states.items()],
                "ON CONFLICT (start, key) DO UPDATE SET state = excluded.state",
            )
            self._insert([(link, depth + 1, "queued") for link in links])

    def is_settled(self, url: str) -> bool:
        """See `Frontier.is_settled`."""
        query = "SELECT state != 'queued' FROM {frontier} WHERE start = %s AND key = %s"
        rows = self._read(query, self._start, key_of(url))
        return bool(rows and rows[0][0])

    def site(self) -> str:
        """See `Frontier.site`."""
        query = "SELECT url FROM {frontier} WHERE start = %s AND depth = 0 ORDER BY place DESC LIMIT 1"
        return str(self._read(query, self._start)[0][0])

    def visits(self) -> int:
        """See `Frontier.visits`."""
        query = "SELECT count(*) FROM {frontier} WHERE start = %s AND state IN ('read', 'gone', 'failed')"
        return int(self._read(query, self._start)[0][0])

    def urls(self, state: State | Literal["queued"]) -> set[str]:
        """See `Frontier.urls`."""
        query = "SELECT url FROM {frontier} WHERE start = %s AND state = %s"
        return {url for (url,) in self._read(query, self._start, state)}

    def end(self) -> None:
        """See `Frontier.end`."""
        with self._server.explained():
            self._connection.execute(
                sql("DELETE FROM {frontier} WHERE start = %s", self._collection), (self._start,)
            )

    def _read(self, query: str, *values: object) -> list[Any]:
        with self._server.explained():
            return self._connection.execute(sql(query, self._collection), values).fetchall()

    def _insert(self, rows: list[tuple[str, int, str]], conflict: str = "ON CONFLICT DO NOTHING") -> None:
        statement = "INSERT INTO {frontier} (start, key, url, depth, state) VALUES (%s, %s, %s, %s, %s) "
        with self._server.explained(), self._connection.cursor() as cursor:
            cursor.executemany(
                sql(statement + conflict, self._collection),
                [(self._start, key_of(url), storable(url), depth, state) for url, depth, state in rows],
            )
