"""`citewell models`: the models that have a name, downloaded, checked and removed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from citewell.core.errors import CitewellError

if TYPE_CHECKING:
    from citewell.core.models.catalog import CatalogModel


@click.group("models", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the models that can be named, get one, remove one, or verify those that are installed."""
    if context.invoked_subcommand is None:
        context.invoke(show, as_json=False)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def show(as_json: bool) -> None:
    """List the models by role, with size, license and sources."""
    from citewell.core.models.catalog import catalog

    models = catalog()
    if as_json:
        for model in models.values():
            click.echo(json.dumps(_row(model), ensure_ascii=False))
        return
    rows = [[*_cells(model)] for model in models.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(6)]
    for *cells, about in rows:
        click.echo(
            "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + f"  {about}"
        )
    click.echo("\n✓ installed, … partly downloaded, ~ about. To get one: citewell models get NAME")
    click.echo("Not pinned: the first download takes the newest files of the hub, and records their SHA-256.")


@command.command("get")
@click.argument("name")
@click.option("--quiet", is_flag=True, help="Print nothing if it is installed.")
def get(name: str, quiet: bool) -> None:
    """Download the model NAME, and check it.

    An interrupted download continues where it was.
    """
    from citewell.cli.download_view import download_progress
    from citewell.core.models.installed import installed_path
    from citewell.core.models.obtaining import known_model, obtain
    from citewell.core.weights import expected_sums

    model = known_model(name)
    if path := installed_path(name):
        if not quiet:
            click.echo(f"{name} is installed: {path}")
        return
    with download_progress(name) as on_bytes:
        path = obtain(name, on_bytes=on_bytes, tell=lambda text: click.echo(f"Note: {text}", err=True))
    click.echo(f"Installed {name}: {path}")
    if not model.sha256 and not model.base:
        click.echo(
            f"No SHA-256 was known. Those of {len(expected_sums(model))} file(s) are recorded for `verify`."
        )
    if model.untried:
        click.echo("Citewell's authors have not run this model.")


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Delete the downloaded model NAME and what was converted from it."""
    from citewell.core.models.obtaining import remove as delete

    click.echo(f"Removed {name}: {delete(name) / 1e6:,.0f} MB are free again.")


@command.command("verify")
@click.argument("name", required=False)
def verify(name: str | None) -> None:
    """Compare the installed models, or only NAME, with their SHA-256."""
    from citewell.core.models.catalog import catalog
    from citewell.core.models.installed import installed_path
    from citewell.core.models.obtaining import known_model
    from citewell.core.weights import verify as check

    if name is not None:
        names = [known_model(name).base or name]
    else:
        names = [model.name for model in catalog().values() if not model.base and installed_path(model.name)]
    damaged = False
    for each in names:
        try:
            check(each)
        except CitewellError as error:
            damaged = True
            click.echo(f"✗ {error.message}\n    {error.hint}", err=True)
        else:
            source = "of the catalog" if catalog()[each].sha256 else "recorded at its download"
            click.echo(f"✓ {each}: as the SHA-256 {source}")
    if damaged:
        raise click.exceptions.Exit(1)


def _row(model: CatalogModel) -> dict[str, Any]:
    from citewell.core.models.installed import installed_path

    path = installed_path(model.name)
    return {
        "name": model.name,
        "role": model.role,
        "about": model.about,
        "license": model.license,
        "bytes": model.bytes,
        "sha256": model.sha256 or None,
        "sources": list(_sources(model)),
        "pinned": model.is_pinned,
        "base": model.base or None,
        "installed": path is not None,
        "path": None if path is None else str(path),
        "run_by_authors": not model.untried,
    }


def _cells(model: CatalogModel) -> Iterator[str]:
    from citewell.core.models.installed import installed_path, model_folder

    is_partial = model_folder(model).with_name(f"{model.name}.partial").is_dir()
    yield "✓" if installed_path(model.name) else "…" if is_partial else " "
    yield model.name
    yield model.role
    size = f"{model.bytes / 1e6:,.0f} MB"
    yield "" if model.base else (size if model.sha256 else f"~{size}")
    yield model.license
    hub = "hub" if model.is_pinned else "hub, not pinned"
    kinds = (hub if model.repository else "", "packages" if model.packages else "")
    yield "Citewell" if model.base else ", ".join(kind for kind in kinds if kind)
    yield f"{model.about}{'; not run here' if model.untried else ''}"


def _sources(model: CatalogModel) -> Iterator[str]:
    if model.repository:
        yield f"hub {model.repository}"
    if model.packages:
        count = len(model.packages)
        first = model.packages[0].package
        yield f"package {first}" if count == 1 else f"{count} packages {first} …"
