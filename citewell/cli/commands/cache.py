"""`citewell cache`: show or clear the cache of web pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

import click

from citewell.core import running

if TYPE_CHECKING:
    from citewell.retriever.fetch.cache.store import CacheUsage


@click.command("cache")
@click.argument("action", type=click.Choice(["show", "clear"]), default="show")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(action: Literal["show", "clear"], as_json: bool) -> None:
    """Show the size and location of the web page cache, or delete its entries (`citewell cache clear`)."""
    if action == "clear":
        entries = running.run(_clear())
        click.echo(json.dumps({"removed": entries}) if as_json else f"Removed {entries:,} entries.")
        return
    usage, is_on = running.run(_usage())
    if as_json:
        row = {"on": is_on, "place": usage.place, "entries": usage.entries, "bytes": usage.bytes}
        click.echo(json.dumps(row | {"most_bytes": usage.most_bytes}, ensure_ascii=False))
        return
    used = f"{usage.bytes / 1e6:,.1f} of {usage.most_bytes / 1e6:,.0f} MB"
    off = "" if is_on else " The cache is off (fetch.cache)."
    click.echo(f"{usage.place}: {usage.entries:,} entries, {used}.{off}")


async def _usage() -> tuple[CacheUsage, bool]:
    from citewell.core.settings import load_settings
    from citewell.pipeline.cache import page_store

    settings = load_settings()
    store = page_store(settings)
    try:
        return await store.usage(), settings.fetch.cache
    finally:
        await store.close()


async def _clear() -> int:
    from citewell.core.settings import load_settings
    from citewell.pipeline.cache import page_store

    store = page_store(load_settings())
    try:
        return await store.clear()
    finally:
        await store.close()
