"""`citewell extract`: what Citewell reads from a file or a web page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.errors import FetchError
from core.types import Failure, Page
from pipeline.commands.options import common_options, flags

if TYPE_CHECKING:
    from core.settings import Settings


@click.command("extract")
@click.argument("sources", metavar="FILE_OR_URL...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a source and line.")
@common_options
def command(
    sources: tuple[str, ...], as_json: bool, networks: tuple[str, ...], assignments: tuple[str, ...]
) -> None:
    """Show the title and the paragraphs of each FILE_OR_URL."""
    from core.settings import load_settings

    settings = load_settings(flags({}, networks, assignments))
    if asyncio.run(_extract(sources, settings, as_json=as_json)):
        raise click.exceptions.Exit(1)


async def _extract(sources: tuple[str, ...], settings: Settings, *, as_json: bool) -> int:
    failed = 0
    async for source, outcome in _pages(sources, settings):
        result: dict[str, object] = {"source": source, "title": None, "paragraphs": [], "error": None}
        if isinstance(outcome, Failure):
            failed += 1
            result["error"] = outcome.reason
        else:
            result["title"] = outcome.title
            result["paragraphs"] = [passage.text for passage in outcome.passages]
        if as_json:
            click.echo(json.dumps(result, ensure_ascii=False))
        elif isinstance(outcome, Failure):
            click.echo(f"citewell: {source}: {outcome.reason}", err=True)
        else:
            click.echo("\n\n".join([outcome.title, *(passage.text for passage in outcome.passages)]) + "\n")
    return failed


async def _pages(sources: tuple[str, ...], settings: Settings) -> AsyncIterator[tuple[str, Page | Failure]]:
    from pipeline.build import open_fetcher
    from retriever.collection.sources import Document
    from retriever.collection.workers import extract_document

    async with open_fetcher(settings) as fetcher:
        for source in sources:
            try:
                if "://" in source:
                    download = await fetcher.get(source)
                    document = Document(download.url, download.body, download.content_type)
                else:
                    document = Document(source, Path(source).read_bytes())  # noqa: ASYNC240
            except FetchError as error:
                yield source, Failure(source, ". ".join(filter(None, (error.message, error.hint))))
            except OSError as error:
                yield source, Failure(source, f"the file cannot be read: {error.strerror}")
            else:
                yield source, extract_document(document)
