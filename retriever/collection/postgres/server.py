"""A PostgreSQL server: its connections, and its failures in plain words without the password."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from citewell.core.errors import CollectionError
from citewell.core.packages import install_command

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

_SECONDS = 10  # connection timeout
_UNREACHABLE = "Check that the server is running, and the host, user and password in collection.store."
_MAX_IDLE = 8  # connections kept


class PostgresServer:
    """A database that holds collections. Any thread may call its methods."""

    def __init__(self, url: str) -> None:
        """`url` is such as `postgresql://user:password@host/name`. Raises `CollectionError` if it is not."""
        try:
            from psycopg import ProgrammingError
            from psycopg.conninfo import conninfo_to_dict
        except ImportError as error:
            raise CollectionError(
                "Collections in PostgreSQL need the package psycopg, which is not installed.",
                install_command("postgres"),
            ) from error
        self._url = url
        try:
            parts = conninfo_to_dict(url)
        except ProgrammingError:  # its text and its traceback contain the password
            parts = None
        if parts is None:
            raise CollectionError(
                "The setting collection.store is not a PostgreSQL URL.",
                "Write it as postgresql://user:password@host:5432/database.",
            )
        self._password = str(parts.get("password") or "")
        self._seconds = int(parts.get("connect_timeout") or _SECONDS)
        host, port = parts.get("host") or "localhost", parts.get("port") or 5432
        self.address = f"PostgreSQL at {host}:{port}"
        self._idle: list[Connection] = []
        self._lock = Lock()

    def connect(self) -> Connection:
        """Open a connection that commits each statement outside a transaction."""
        import psycopg

        try:
            connection = psycopg.connect(self._url, autocommit=True, connect_timeout=self._seconds)
            connection.execute("SET jit = off")  # compiling takes longer than these queries
            return connection
        except psycopg.Error as error:
            raise CollectionError(
                f"{self.address}, which holds the collections, cannot be used: {self._safe(error)}.",
                _UNREACHABLE,
            ) from None

    def run(self, work: Callable[[Connection], T]) -> T:
        """Return what `work` returns for a connection; it is repeated if an old connection is broken."""
        from psycopg import OperationalError

        with self.explained():
            while connection := self._take():
                try:
                    return self._lend(connection, work)
                except OperationalError:
                    if not connection.closed:
                        raise
            return self._lend(self.connect(), work)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn the database's errors of the block into `CollectionError`."""
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
                "Ask an administrator to let the user create tables in the database and, for vectors, to run "
                "CREATE EXTENSION vector.",
            ) from None
        except errors.UndefinedTable as error:
            raise CollectionError(
                f"The collection no longer exists in {self.address}: {self._safe(error)}.",
                "List the collections: citewell collections",
            ) from None
        except Error as error:
            raise CollectionError(
                f"The collection in {self.address} cannot be read or written: {self._safe(error)}.",
                f"{_UNREACHABLE} Everything written before is kept.",
            ) from None

    def _take(self) -> Connection | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def _lend(self, connection: Connection, work: Callable[[Connection], T]) -> T:
        done = False
        try:
            result = work(connection)
            done = True
            return result
        finally:
            with self._lock:
                keep = done and not connection.closed and len(self._idle) < _MAX_IDLE
                if keep:
                    self._idle.append(connection)
            if not keep:
                with suppress(Exception):
                    connection.close()

    def _safe(self, error: Exception) -> str:
        text = " ".join(str(error).split()).rstrip(".")
        return text.replace(self._password, "***") if self._password else text
