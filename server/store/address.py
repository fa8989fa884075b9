"""Where the database is: URLs of SQLite files and of PostgreSQL servers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from citewell.core.errors import SettingsError
from citewell.core.packages import need_packages

_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}


def store_url(setting: str, data_dir: Path) -> str:
    """The URL that `server.database_url` means: where it is empty, the file of the data folder."""
    return setting or f"sqlite:///{data_dir / 'citewell.sqlite3'}"


@dataclass(frozen=True)
class Address:
    """A database: its URL with the driver that is used, and its name without the password.

    `file` is the file of SQLite, and None for PostgreSQL.
    """

    url: URL = field(repr=False)
    place: str
    file: Path | None


def read_address(url: str) -> Address:
    """Understand a URL such as `sqlite:////var/lib/citewell.sqlite3` or `postgresql://user:password@host/name`.

    Raises `SettingsError` for any other, and `InputError` where the driver is not installed.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # they might repeat the password
        raise _not_understood() from None
    if (
        parsed.drivername == "sqlite"
        and parsed.database
        and parsed.database != ":memory:"
        and not parsed.query
    ):
        file = Path(parsed.database)
        return Address(URL.create("sqlite", database=str(file)), str(file), file)
    if parsed.drivername in _POSTGRES and parsed.database:
        need_packages("PostgreSQL", "postgres", "psycopg")
        full = parsed.set(drivername="postgresql+psycopg")
        shown = URL.create("postgresql", host=parsed.host, port=parsed.port, database=parsed.database)
        return Address(full, shown.render_as_string(), None)
    raise _not_understood()


def _not_understood() -> SettingsError:
    return SettingsError(
        "The setting server.database_url is wrong: it names neither a file of SQLite nor a database of "
        "PostgreSQL.",
        "Write sqlite:////folder/citewell.sqlite3 or postgresql://user:password@host/name, for example.",
    )
