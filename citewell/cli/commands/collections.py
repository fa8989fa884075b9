"""`citewell collections`: list or remove collections."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from citewell.retriever.collection.protocol import Catalog


@click.command("collections")
@click.option("--remove", metavar="NAME", help="Delete a collection and all its pages.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(remove: str | None, as_json: bool) -> None:
    """List all collections with their size, sources and vectors, or remove one."""
    from citewell.core.settings import load_settings
    from citewell.pipeline.collections import catalog_of, collection_names

    settings = load_settings()
    if remove is not None:
        catalog_of(settings, remove).remove(remove)
        click.echo(f"Removed the collection {remove}.")
        return
    names = collection_names(settings)
    if not names and not as_json:
        click.echo("There are no collections yet. Create one: citewell index SOURCE --collection NAME")
    for name in names:
        row = _describe(catalog_of(settings, name), name)
        if as_json:
            click.echo(json.dumps(row, ensure_ascii=False))
        elif row["error"]:
            click.echo(f"{name}: {row['error']}", err=True)
        else:
            size = row["bytes"] / 1e6
            pages = f"{row['pages']:,} {'page' if row['pages'] == 1 else 'pages'}"
            click.echo(f"{name}: {pages}, {size:.1f} MB, from {', '.join(row['sources']) or '-'}")
            if row["vectors"]:
                click.echo(f"  with vectors of {', '.join(row['vectors'])}")


def _describe(catalog: Catalog, name: str) -> dict[str, Any]:
    try:
        with closing(catalog.open(name)) as store:
            return {
                "name": name,
                "pages": store.count(),
                "bytes": store.size(),
                "sources": store.sources(),
                "vectors": sorted({encoding.name for encoding in store.encodings()}),
                "error": None,
            }
    except CitewellError as error:
        row: dict[str, Any] = {"name": name, "pages": None, "bytes": None, "sources": [], "vectors": []}
        return row | {"error": str(error)}
