"""Migration of the tables, run once even if many processes start at the same time."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from filelock import FileLock, Timeout
from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from citewell.core.paths import make_private_folder
from citewell.server.store.address import Address
from citewell.server.store.engine import open_migrating_engine
from citewell.server.store.errors import StoreError, StoreUnreachableError
from citewell.server.store.failures import explained
from citewell.server.store.old_requests import deleting_old
from citewell.server.store.owners import end_interrupted

_WAIT_SECONDS = 60
_LOCK = 7_234_881_902_331  # any number that no other program uses on the server
# Alembic keeps the running migration in module variables, one for the whole process.
_ALEMBIC = threading.Lock()


def migrate(address: Address) -> tuple[str, ...]:
    """Bring the tables up to date, end the work of dead processes, delete old requests, and return the
    migrations run. Concurrent processes wait for each other. A migration that fails leaves the tables as they
    were. Raises `StoreError` if the database cannot be used, or was migrated by a newer Citewell.
    """
    engine = open_migrating_engine(address)
    try:
        with _ALEMBIC, _alone(address), engine.connect() as connection:
            if address.file is not None:
                # The mode is stored in the file and cannot be set in a transaction.
                connection.connection.cursor().execute("PRAGMA journal_mode = WAL")
            with connection.begin():
                if address.file is None:
                    connection.execute(text(f"SET LOCAL lock_timeout = '{_WAIT_SECONDS}s'"))
                    connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
                steps = _upgrade(connection, address)
                end_interrupted(connection)
                connection.execute(deleting_old())
                return steps
    except (SQLAlchemyError, sqlite3.Error, OSError) as error:
        raise explained(error, address.place) from error
    finally:
        engine.dispose()


@contextmanager
def _alone(address: Address) -> Iterator[None]:
    """Keep out other processes that open the same file; a server has its own lock."""
    if address.file is None:
        yield
        return
    make_private_folder(address.file.parent)
    address.file.touch(mode=0o600)  # it contains people's questions
    lock = FileLock(address.file.with_name(address.file.name + ".lock"), timeout=_WAIT_SECONDS)
    try:
        with lock:
            yield
    except Timeout as error:
        raise StoreUnreachableError(
            f"The database {address.place} is being opened by another process for more than "
            f"{_WAIT_SECONDS} seconds.",
            "Find out which process holds the file that ends in .lock.",
        ) from error


def _upgrade(connection: Connection, address: Address) -> tuple[str, ...]:
    config = Config(attributes={"connection": connection})
    folder = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", folder.replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    before = MigrationContext.configure(connection).get_current_revision()
    if before == scripts.get_current_head():
        return ()
    if before is not None and before not in {script.revision for script in scripts.walk_revisions()}:
        raise StoreError(
            f"The database {address.place} was made by a newer Citewell: it is at revision {before}.",
            "Install that version, or name another database in server.database_url.",
        )
    steps = tuple(script.revision for script in scripts.iterate_revisions("head", before or "base"))
    command.upgrade(config, "head")
    return steps[::-1]
