"""`citewell keys`: manage API keys, and which of them may read a collection."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import click

from citewell.core import running
from citewell.core.errors import InputError
from citewell.server.commands.database import database_option, database_url, missing_file

if TYPE_CHECKING:
    from citewell.server.access.keys import ApiKey
    from citewell.server.access.readers import Readers

F = TypeVar("F", bound=Callable[..., Any])


def _json(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")(command)


@click.group("keys")
def command() -> None:
    """Create, list and revoke API keys of the service.

    Until a key exists, the service only answers requests from its own computer.
    """


@command.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(["ask", "feedback", "export", "admin"]),
    default=("ask", "feedback"),
    help="Scope of the key; repeatable [ask and feedback].",
)
@click.option("--rate", type=click.IntRange(min=1), metavar="N", help="Max requests per minute.")
@click.option("--daily", type=click.IntRange(min=1), metavar="N", help="Max questions per day (UTC).")
@click.option("--days", type=click.IntRange(1, 36_500), metavar="N", help="Days until the key expires.")
@database_option
@_json
def create(
    name: str,
    scopes: tuple[str, ...],
    rate: int | None,
    daily: int | None,
    days: int | None,
    database: str | None,
    as_json: bool,
) -> None:
    """Create a key for NAME and print it once: only its hash is stored."""
    from citewell.server.access.keys import new_key

    expires = datetime.now(UTC) + timedelta(days=days) if days else None
    made = new_key(name, scopes, rate_per_minute=rate, daily=daily, expires=expires)
    running.run(_add(database, made.key))
    if as_json:
        click.echo(json.dumps({"secret": made.secret} | _described(made.key), ensure_ascii=False))
        return
    click.echo(made.secret)
    click.echo(f"Created the key {made.key.id}. Save the line above: it is not shown again.", err=True)


@command.command("list")
@database_option
@_json
def list_(database: str | None, as_json: bool) -> None:
    """List all keys without their secrets."""
    url = database_url(database)
    missing = missing_file(url, database)
    keys = [] if missing else running.run(_all(url))
    if not keys and not as_json:
        why = f", since the database {missing} does not exist" if missing else ""
        click.echo(f"No keys yet{why}. Create one: citewell keys create NAME")
    for key in keys:
        row = _described(key)
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
            continue
        limits = [f"{n:,} per {per}" for n, per in ((key.rate_per_minute, "minute"), (key.daily, "day")) if n]
        facts = [key.id, row["status"], ", ".join(row["scopes"]), *limits, f"created {key.created:%Y-%m-%d}"]
        until = [f"expires {key.expires:%Y-%m-%d}"] if key.expires else []
        click.echo(f"{key.name}: {'; '.join(facts + until)}")


@command.command("revoke")
@click.argument("id_", metavar="ID")
@database_option
def revoke(id_: str, database: str | None) -> None:
    """Revoke the key with this ID. `citewell keys list` shows the ids."""
    running.run(_revoke(database, id_))
    click.echo(f"Revoked the key {id_}.")


@command.command("share")
@click.argument("collection")
@click.option("--key", "keys", multiple=True, metavar="NAME", help="Key that may read it; repeatable.")
@click.option(
    "--account", "accounts", multiple=True, metavar="NAME", help="Account that may read it; repeatable."
)
@click.option("--everyone", is_flag=True, help="Let everyone read it who may ask.")
@database_option
@_json
def share(
    collection: str,
    keys: tuple[str, ...],
    accounts: tuple[str, ...],
    everyone: bool,
    database: str | None,
    as_json: bool,
) -> None:
    """Let only some keys and accounts read COLLECTION, or show who may read it.

    To others, it does not exist. Those with the scope admin read all collections.
    """
    if everyone and (keys or accounts):
        raise InputError("--everyone is for no list of readers.", "Leave out --key and --account.")
    readers = running.run(_share(database, collection, keys, accounts, everyone))
    if as_json:
        lists = {"keys": sorted(readers.keys), "accounts": sorted(readers.accounts)}
        click.echo(json.dumps({"collection": collection} | lists, ensure_ascii=False))
        return
    named = [f"the key {name}" for name in sorted(readers.keys)]
    named += [f"the account {name}" for name in sorted(readers.accounts)]
    click.echo(f"{collection} can be read by {', '.join(named) or 'everyone who may ask'}.")


def _described(key: ApiKey) -> dict[str, Any]:
    now = datetime.now(UTC)
    status = "active" if key.is_active(now) else "revoked" if key.revoked else "expired"
    return {
        "id": key.id,
        "name": key.name,
        "status": status,
        "scopes": sorted(key.scopes),
        "rate_per_minute": key.rate_per_minute,
        "daily": key.daily,
        "created": key.created.isoformat(),
        "expires": key.expires.isoformat() if key.expires else None,
        "revoked": key.revoked.isoformat() if key.revoked else None,
    }


async def _add(database: str | None, key: ApiKey) -> None:
    url = database_url(database)
    from citewell.server.store.database import open_store

    async with open_store(url) as store:
        await store.keys.add(key)


async def _all(url: str) -> list[ApiKey]:
    from citewell.server.store.database import open_store

    async with open_store(url) as store:
        return await store.keys.list()


async def _share(
    database: str | None, collection: str, keys: tuple[str, ...], accounts: tuple[str, ...], everyone: bool
) -> Readers:
    url = database_url(database)
    from citewell.core.settings import load_settings
    from citewell.pipeline.collections import collection_names
    from citewell.server.access.readers import Readers
    from citewell.server.store.database import open_store
    from citewell.server.work.sharing import check_readers, check_shareable

    settings = load_settings()
    if collection not in collection_names(settings):
        raise InputError(
            f"There is no collection {collection!r}.", "`citewell collections` lists the collections."
        )
    check_shareable(collection)
    wanted = Readers(frozenset(keys), frozenset(accounts))
    if (keys or accounts) and missing_file(url, None):
        check_readers(wanted, Readers(), [], settings.server.accounts)
    elif not (keys or accounts) and missing_file(url, database):
        return Readers()
    async with open_store(url) as store:
        before = (await store.readers.all()).get(collection, Readers())
        if not (keys or accounts or everyone):
            return before
        check_readers(wanted, before, await store.keys.list(), settings.server.accounts)
        await store.readers.set(collection, wanted)
    return wanted


async def _revoke(database: str | None, id_: str) -> None:
    url = database_url(database)
    from citewell.server.store.database import open_store

    if missing := missing_file(url, database):
        raise InputError(
            f"The key {id_} does not exist, since the database {missing} does not exist.",
            "Name the database of the service: --database URL.",
        )
    async with open_store(url) as store:
        if await store.keys.revoke(id_):
            return
        key = await store.keys.get(id_)
    if key is None:
        raise InputError(f"The key {id_} does not exist.", "`citewell keys list` shows the ids.")
