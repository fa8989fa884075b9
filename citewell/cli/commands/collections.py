"""`citewell collections`: list or remove collections."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.retriever.collection.collection import Collection


@click.command("collections")
@click.option("--remove", metavar="NAME", help="Delete a collection and all its pages.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def command(remove: str | None, as_json: bool) -> None:
    """List all collections with their size, sources and vectors, or remove one."""
    from citewell.core.settings import load_settings
    from citewell.retriever.collection.collection import collection_names

    settings = load_settings()
    if remove is not None:
        _remove(settings, remove)
        click.echo(f"Removed the collection {remove}.")
        return
    names = collection_names(settings.data_dir)
    if not names and not as_json:
        click.echo("There are no collections yet. Create one: citewell index SOURCE --collection NAME")
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
            if vectors := row["vectors"]:
                encoder = f" of {vectors['encoder']}" if vectors["encoder"] else ""
                click.echo(f"  with vectors{encoder} in {vectors['place']}")


def _describe(settings: Settings, name: str) -> dict[str, Any]:
    from citewell.retriever.collection.collection import Collection

    try:
        collection = Collection(settings.data_dir, name)
        return {
            "name": name,
            "pages": collection.store.count(),
            "bytes": sum(f.stat().st_size for f in collection.folder.rglob("*") if f.is_file()),
            "sources": collection.store.sources(),
            "vectors": _vectors(collection),
            "error": None,
        }
    except CitewellError as error:
        row: dict[str, Any] = {"name": name, "pages": None, "bytes": None, "sources": [], "vectors": None}
        return row | {"error": str(error)}


def _vectors(collection: Collection) -> dict[str, str | None] | None:
    """Where a collection's vectors are stored and, unless that takes a database query, their encoders."""
    from citewell.retriever.collection.dense import FILES, VectorStoreConfig, encodings

    place = collection.store.vectors()
    if not place:
        return None
    known = encodings(collection.folder, place, VectorStoreConfig()) if place == FILES else []
    return {"place": place, "encoder": ", ".join(sorted({encoding.name for encoding in known})) or None}


def _remove(settings: Settings, name: str) -> None:
    from citewell.pipeline.providers import vector_store
    from citewell.retriever.collection.collection import Collection, remove_collection
    from citewell.retriever.collection.dense import drop_vectors

    try:
        collection = Collection(settings.data_dir, name)
        in_postgres = bool(vector_store(settings).url and collection.store.vectors())
    except CitewellError:  # a damaged one is removed too; a missing one is reported below
        in_postgres = False
    if in_postgres:
        drop_vectors(collection.folder, collection.store, vector_store(settings))
    remove_collection(settings.data_dir, name)
