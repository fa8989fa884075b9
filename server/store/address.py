"""Database URLs of SQLite files and PostgreSQL servers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from citewell.core.errors import SettingsError
from citewell.core.packages import need_packages

_POSTGRES = {"postgres", "postgresql", "postgresql+psycopg"}


def store_url(setting: str, data_dir: Path) -> str:
    """Return the URL of the setting `server.database_url`; if that is empty, the file in the data folder."""
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
    """Parse a URL such as `sqlite:////var/lib/citewell.sqlite3` or `postgresql://user:password@host/name`.

    Raises `SettingsError` for other URLs, and `InputError` if the driver is not installed.
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
        "The setting server.database_url is wrong: it is neither a SQLite file nor a PostgreSQL database.",
        "Use sqlite:////folder/citewell.sqlite3 or postgresql://user:password@host/name, for example.",
    )
