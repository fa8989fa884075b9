"""Options that several commands share; each is a setting by another name.

A parameter called `retriever__k` fills the setting `retriever.k`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from core.errors import SettingsError

F = TypeVar("F", bound=Callable[..., Any])

_RETRIEVAL = (
    click.option(
        "--collection", "search__collection", metavar="NAME", help="Collection to search [handbook]."
    ),
    click.option("--search", "search__provider", metavar="NAME", help="collection, searxng or wikipedia."),
    click.option("--k", "retriever__k", type=int, metavar="N", help="Number of references [5]."),
    click.option(
        "--encoder", "retriever__encoder", metavar="MODEL", help="Packaged model, folder or hub id."
    ),
)
_NETWORK = click.option(
    "--allow-network",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="Private network that may be fetched from, such as 10.0.0.0/8; repeatable.",
)
_SET = click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Any setting by its name; repeatable."
)


def retrieval_options(command: F) -> F:
    """Add the options of search and ranking, and those of `common_options`."""
    for option in reversed(_RETRIEVAL):
        command = option(command)
    return common_options(command)


def common_options(command: F) -> F:
    """Add `--allow-network` and `--set`."""
    return _NETWORK(_SET(command))


def flags(named: dict[str, Any], networks: tuple[str, ...], assignments: tuple[str, ...]) -> dict[str, Any]:
    """The settings that a command line gives, by dotted name; raises `SettingsError` for a bad `--set`."""
    values = {name.replace("__", "."): value for name, value in named.items()}
    if networks:
        values["fetch.allow_networks"] = " ".join(networks)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise SettingsError(
                f"--set {assignment} is not understood.", "Write --set retriever.k=3, for example."
            )
        values[name.strip()] = value.strip()
    return values
