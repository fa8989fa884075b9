"""`citewell index`: fill a collection from files, folders or a website."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from citewell.cli.commands.options import common_options, flags
from citewell.cli.encoding import encoding_progress, show_encoded
from citewell.core.errors import CollectionError, FetchError, InputError, ModelError

if TYPE_CHECKING:
    from citewell.pipeline.ray_indexing import IndexingWork
    from citewell.retriever.collection.indexing import Report

_SHOWN = 5  # failures listed; the rest are counted


@click.command("index")
@click.argument("sources", metavar="SOURCE...", nargs=-1)
@click.option("--collection", "name", metavar="NAME", required=True, help="Collection to fill.")
@click.option("--pages", "crawl__pages", type=int, metavar="N", help="Max pages per crawl [200].")
@click.option("--depth", "crawl__depth", type=int, metavar="N", help="Max links from the start page [3].")
@click.option("--delay", "crawl__delay", type=float, metavar="SECONDS", help="Delay between requests [0.5].")
@click.option(
    "--dense/--no-dense",
    default=None,
    help="Turn dense (embedding) search on, or off (deletes the vectors) [on if the collection is small].",
)
@click.option(
    "--store",
    "collection__store",
    metavar="URL",
    help="PostgreSQL database for the collection [the data folder].",
)
@click.option(
    "--encoder", "retriever__encoder", metavar="MODEL", help="Dual encoder: packaged model, folder or hub id."
)
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    help="Run in this process, or on a Ray cluster (with --store) [local].",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    metavar="N",
    help="Worker processes on the Ray cluster [2].",
)
@click.option("--refresh", is_flag=True, help="Read again the sources that the collection has.")
@click.option("--rebuild", is_flag=True, help="Rebuild the search indexes from the stored pages.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@common_options
def command(
    sources: tuple[str, ...],
    name: str,
    dense: bool | None,
    engine: Literal["local", "ray"],
    workers: int | None,
    refresh: bool,
    rebuild: bool,
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Fill a collection from each SOURCE: a file, a folder, or a URL whose site is crawled.

    Files are .html, .md, .txt, .csv, .tsv, .pdf, .docx, .odt, .pptx, .xlsx, .epub, and .jsonl of
    {url, title, text|html}, also compressed as .gz. Unchanged pages are skipped. Run the same command to
    resume an interrupted run.
    """
    if not sources and not refresh and not rebuild and dense is None:
        raise InputError(
            "There is nothing to index.", "Give a folder, a file or a URL, or --refresh or --rebuild."
        )
    if (refresh or rebuild) and engine == "ray":
        work = "refresh" if refresh else "rebuild"
        raise InputError(f"A {work} runs in one process.", "Leave out --engine ray.")
    if refresh and sources:
        raise InputError("--refresh reads the sources that the collection has.", "Leave out SOURCE.")
    if workers and engine != "ray":
        raise InputError("--workers is for a Ray cluster.", "Add --engine ray, or leave out --workers.")
    from citewell.core.settings import load_settings
    from citewell.pipeline.collections import catalog_of
    from citewell.pipeline.dense import dense_indexing
    from citewell.pipeline.indexing import index_source
    from citewell.pipeline.ray_indexing import IndexingWork
    from citewell.pipeline.refreshing import refresh as refreshed
    from citewell.retriever.collection.indexing import indexing
    from citewell.retriever.collection.naming import UnknownCollectionError
    from citewell.retriever.collection.sources import read_source

    _check_handbook(name, sources, refresh=refresh)
    for source in sources:
        if not source.strip():
            raise InputError(
                "A source is empty.", 'Give a file, a folder or a URL; "." is the current folder.'
            )
        if "://" not in source:
            # Raises if there is nothing to index, before a collection is created.
            next(read_source(Path(source)), None)
    settings = load_settings(flags(named, networks, assignments))
    catalog = catalog_of(settings, name)
    is_new = catalog.version(name) is None
    if is_new and not sources:
        why = " to rebuild" if rebuild else " to refresh" if refresh else ""
        raise UnknownCollectionError(
            f"There is no collection {name!r}{why}.",
            f"Create it: citewell index SOURCE --collection {name}",
        )
    failed = pages = 0
    if engine == "ray":
        for source, report in _on_ray(IndexingWork(sources, name, settings, dense), workers).items():
            failed += len(report.failures)
            _show(source, report, as_json=as_json)
        _end(name, catalog.open(name).count(), failed, as_json=as_json)
        return
    try:
        with (
            indexing(catalog, name, _log_waiting, rebuild=rebuild) as indexer,
            dense_indexing(
                indexer.store,
                settings,
                dense=dense,
                on_progress=encoding_progress(),
                tell=partial(click.echo, err=True),
            ) as encode,
        ):
            pages = indexer.store.count()
            for source in sources:
                report = index_source(source, indexer, settings, _progress(source))
                failed += len(report.failures)
                pages = indexer.store.count()
                _show(source, report, as_json=as_json)
            for source, report in (
                refreshed(indexer, settings, _progress(f"Refreshing {name}")) if refresh else ()
            ):
                failed += len(report.failures)
                pages = indexer.store.count()
                _show(source, report, as_json=as_json)
            if encoded := encode():
                show_encoded(name, encoded, as_json=as_json)
            elif indexer.store.may_be_dense() and pages and not as_json:
                click.echo(
                    "Only its words are searched. To find other words for the same thing: "
                    f"citewell index --collection {name} --dense"
                )
    except (CollectionError, FetchError, ModelError):
        if is_new and not pages and catalog.version(name):
            catalog.remove(name)
        raise
    if is_new and not pages:
        catalog.remove(name)
        raise CollectionError(f"No page could be read. The collection {name} was not created.")
    _end(name, pages, failed, as_json=as_json)


def _check_handbook(name: str, sources: tuple[str, ...], *, refresh: bool) -> None:
    """Raise `InputError` for anything but Citewell's own documentation in the collection of that name."""
    from citewell.pipeline.collections import HANDBOOK
    from citewell.pipeline.handbook import handbook_folder

    if name != HANDBOOK:
        return
    if refresh:
        raise InputError(
            f"Citewell brings the collection {name} up to date before each question to it.",
            "Leave out --refresh.",
        )
    folder = handbook_folder()
    for source in sources:
        path = Path(source).resolve()
        if "://" in source or folder is None or not (path == folder or folder in path.parents):
            raise InputError(
                f"The collection {name} is for Citewell's own documentation: {source} is not part of it.",
                "Name another collection.",
            )


def _end(name: str, pages: int, failed: int, *, as_json: bool) -> None:
    if not as_json:
        held = f"{pages:,} {'page' if pages == 1 else 'pages'}"
        click.echo(f"The collection {name} holds {held}. Try: citewell ask … --collection {name}")
    if failed and not pages:
        raise click.exceptions.Exit(1)


def _on_ray(work: IndexingWork, workers: int | None) -> dict[str, Report]:
    """Index on a Ray cluster, with the number of pages on one line of a terminal; nothing in a pipe."""
    from citewell.core.ray_cluster import RayWorkers
    from citewell.pipeline.ray_indexing import index_on_ray

    wanted = RayWorkers(workers=workers) if workers else RayWorkers()
    if not sys.stderr.isatty():
        return index_on_ray(work, wanted, lambda pages: None)
    try:
        return index_on_ray(
            work, wanted, lambda pages: click.echo(f"\r\x1b[K{pages:,} pages", nl=False, err=True)
        )
    finally:
        click.echo("\r\x1b[K", nl=False, err=True)


def _progress(source: str) -> Callable[[Report], None]:
    """Show progress on one line of a terminal; nothing in a pipe."""
    if not sys.stderr.isatty():
        return lambda report: None
    from rich.console import Console

    console = Console(stderr=True)

    def show(report: Report) -> None:
        text = (
            f"{source}: {report.seen:,} read, {report.unchanged:,} unchanged, {len(report.failures):,} failed"
        )
        console.print(text, end="\r", overflow="ellipsis", no_wrap=True, highlight=False)

    return show


def _show(source: str, report: Report, *, as_json: bool) -> None:
    if as_json:
        failures = [{"url": failure.url, "reason": failure.reason} for failure in report.failures]
        numbers = {
            key: getattr(report, key) for key in ("added", "changed", "unchanged", "removed", "elsewhere")
        }
        skipped = [{"url": each.url, "reason": each.reason} for each in report.skipped]
        result = {"source": source} | numbers | {"failures": failures, "skipped": skipped}
        result["notices"] = report.notices
        result["gone"] = report.gone
        click.echo(json.dumps(result, ensure_ascii=False))
        return
    click.echo(
        f"{source}: {report.added:,} added, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} removed, {len(report.failures):,} failed"
        + (f", {len(report.skipped):,} skipped" if report.skipped else "")
        + (f", {report.elsewhere:,} left to another run" if report.elsewhere else "")
    )
    for notice in report.notices[:_SHOWN]:
        click.echo(f"  {notice}", err=True)
    if len(report.notices) > _SHOWN:
        click.echo(f"  and {len(report.notices) - _SHOWN:,} more truncated pages", err=True)
    for url in report.gone[:_SHOWN]:
        click.echo(f"  {url}: gone", err=True)
    if len(report.gone) > _SHOWN:
        click.echo(f"  and {len(report.gone) - _SHOWN:,} more are gone", err=True)
    for unread in (report.failures, report.skipped):
        for each in unread[:_SHOWN]:
            click.echo(f"  {each.url}: {each.reason}", err=True)
        for reason, count in Counter(each.reason for each in unread[_SHOWN:]).most_common(_SHOWN):
            click.echo(f"  and {count:,} more: {reason}", err=True)


def _log_waiting() -> None:
    click.echo("Waiting for another run that is writing this collection …", err=True)
