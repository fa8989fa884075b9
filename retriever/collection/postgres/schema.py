"""The tables of collections in PostgreSQL."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from uuid import UUID

from citewell.core.errors import CollectionError

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.sql import Composed

VERSION = 1
"""The version of these tables; a new one cannot read the old."""

_SHARED = (
    "CREATE TABLE citewell_schema (version integer NOT NULL)",
    """
    CREATE TABLE citewell_collections (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL UNIQUE,
        dense boolean NOT NULL DEFAULT false,
        changes bigint NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE citewell_encodings (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        collection integer NOT NULL REFERENCES citewell_collections ON DELETE CASCADE,
        encoder text NOT NULL,
        fingerprint text NOT NULL,
        dimension integer NOT NULL,
        complete boolean NOT NULL DEFAULT false,
        UNIQUE (collection, fingerprint)
    )
    """,
)
# Each collection has its own tables, so that its indexes hold nothing of others and it is deleted at once.
# A page is known by a digest of its URL, since a URL may be longer than an index allows; `names` are those of
# its title (`citewell.core.subject.named`). `terms` counts the passages whose title, and whose body, has
# a term; recent counts are only appended to `new_terms`, where runs do not wait for each other.
_OF_COLLECTION = (
    """
    CREATE TABLE {pages} (
        key uuid PRIMARY KEY,
        url text NOT NULL,
        source text NOT NULL,
        digest text NOT NULL,
        title text NOT NULL,
        names text[] NOT NULL,
        passages text NOT NULL,
        date text NOT NULL
    )
    """,
    "CREATE INDEX ON {pages} USING hash (source)",
    "CREATE INDEX ON {pages} USING gin (names)",
    """
    CREATE TABLE {passages} (
        page uuid NOT NULL REFERENCES {pages} ON DELETE CASCADE,
        passage integer NOT NULL,
        title_length integer NOT NULL,
        body_length integer NOT NULL,
        words tsvector NOT NULL,
        PRIMARY KEY (page, passage)
    )
    """,
    "CREATE INDEX {words} ON {passages} USING gin (words)",
    """
    CREATE TABLE {terms} (
        term text COLLATE "C" PRIMARY KEY, titles bigint NOT NULL, bodies bigint NOT NULL
    )
    """,
    "CREATE TABLE {new_terms} (LIKE {terms})",
    "CREATE INDEX ON {new_terms} (term)",
    """
    CREATE TABLE {frontier} (
        start uuid NOT NULL,
        key uuid NOT NULL,
        place bigint GENERATED ALWAYS AS IDENTITY,
        url text NOT NULL,
        depth integer NOT NULL,
        state text NOT NULL,
        PRIMARY KEY (start, key)
    )
    """,
)
_NAMES = ("pages", "passages", "words", "terms", "new_terms", "frontier")


def key_of(url: str) -> UUID:
    """Return the key of a page."""
    return UUID(bytes=hashlib.sha256(url.encode()).digest()[:16])


def storable(text: str) -> str:
    """Return `text` without null characters, which PostgreSQL does not store."""
    return text.replace("\0", "\ufffd")


def sql(text: str, collection: int) -> Composed:
    """Return a statement, a literal of this package, with the tables of a collection."""
    from psycopg.sql import SQL, Identifier

    return SQL(text).format(**{name: Identifier(f"citewell_{name}_{collection}") for name in _NAMES})


def exists(connection: Connection, address: str) -> bool:
    """Return whether the database has collections. Raises `CollectionError` for another version."""
    if not _has(connection, "citewell_schema"):
        return False
    row = connection.execute("SELECT version FROM citewell_schema").fetchone()
    version = row[0] if row else None
    if version != VERSION:
        raise CollectionError(
            f"The collections in {address} have version {version} of the tables; this Citewell reads version "
            f"{VERSION}.",
            "Use the Citewell that made them, or index into another database.",
        )
    return True


def make(connection: Connection, address: str, name: str) -> int:
    """Return the id of a collection, creating it and the shared tables if they do not exist."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('citewell', 0))")
        if not exists(connection, address):
            for statement in _SHARED:
                connection.execute(statement)
            connection.execute("INSERT INTO citewell_schema VALUES (%s)", (VERSION,))
        known = find(connection, name)
        if known is not None:
            return known
        row = connection.execute(
            "INSERT INTO citewell_collections (name) VALUES (%s) RETURNING id", (name,)
        ).fetchone()
        assert row is not None
        for statement in _OF_COLLECTION:
            connection.execute(sql(statement, row[0]))
        return int(row[0])


def find(connection: Connection, name: str) -> int | None:
    """Return the id of a collection, or None if it does not exist."""
    row = connection.execute("SELECT id FROM citewell_collections WHERE name = %s", (name,)).fetchone()
    return int(row[0]) if row else None


def drop(connection: Connection, collection: int) -> None:
    """Delete the tables of a collection, in a transaction of the caller."""
    connection.execute(sql("DROP TABLE {passages}, {pages}, {terms}, {new_terms}, {frontier}", collection))
    connection.execute("DELETE FROM citewell_collections WHERE id = %s", (collection,))


def _has(connection: Connection, table: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s)", (table,)).fetchone()
    return row is not None and row[0] is not None
