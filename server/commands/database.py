"""The database that a command of the service uses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

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
