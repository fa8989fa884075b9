"""The database that a command of the service uses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from citewell.core.errors import InputError

F = TypeVar("F", bound=Callable[..., Any])


def database_option(command: F) -> F:
    """Add the option `--database`."""
    return click.option(
        "--database",
        metavar="URL",
        help="Database URL, as in server.database_url [SQLite in the data folder].",
    )(command)


def database_url(database: str | None) -> str:
    """Return the URL of the database that is named, or of the settings."""
    from citewell.server.packages import need_server_packages

    need_server_packages()
    from citewell.core.settings import load_settings
    from citewell.server.store.address import store_url

    settings = load_settings({"server.database_url": database})
    return store_url(settings.server.database_url.get_secret_value(), settings.data_dir)


def missing_file(url: str, database: str | None) -> Path | None:
    """Return the file of a SQLite database to read, if it does not exist; opening it would make it.

    Raises `InputError` if it is the one that `--database` names.
    """
    from citewell.server.store.address import read_address

    file = read_address(url).file
    if file is None or file.exists():
        return None
    if database is not None:
        raise InputError(
            f"The database {file} does not exist.", "`citewell keys create` and the service make one."
        )
    return file
