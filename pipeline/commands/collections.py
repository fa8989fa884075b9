"""`citewell collections`: what there is to search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from core.errors import CitewellError

if TYPE_CHECKING:
    from core.settings import Settings


@click.command("collections")
@click.option("--remove", metavar="NAME", help="Delete a collection with all its pages.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a collection and line.")
def command(remove: str | None, as_json: bool) -> None:
    """List the collections with their pages, size and sources, or remove one."""
    from core.settings import load_settings
    from retriever.collection.collection import collection_names, remove_collection

    settings = load_settings()
    if remove is not None:
        remove_collection(settings.data_dir, remove)
        click.echo(f"Removed the collection {remove}.")
        return
    names = collection_names(settings.data_dir)
    if not names and not as_json:
        click.echo("There are no collections yet. Make one: citewell index SOURCE --collection NAME")
    for name in names:
        row = _describe(settings, name)
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
        elif row["error"]:
            click.echo(f"{name}: {row['error']}", err=True)
        else:
            size = row["bytes"] / 1e6
            click.echo(
                f"{name}: {row['pages']:,} pages, {size:.1f} MB, from {', '.join(row['sources']) or '-'}"
            )


def _describe(settings: Settings, name: str) -> dict[str, Any]:
    from retriever.collection.collection import Collection

    try:
        collection = Collection(settings.data_dir, name)
        return {
            "name": name,
            "pages": collection.store.count(),
            "bytes": sum(f.stat().st_size for f in collection.folder.rglob("*") if f.is_file()),
            "sources": collection.store.sources(),
            "error": None,
        }
    except CitewellError as error:
        return {"name": name, "pages": None, "bytes": None, "sources": [], "error": str(error)}
