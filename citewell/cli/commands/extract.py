"""`citewell extract`: show the text extracted from a file or a web page."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import common_options, flags
from citewell.core import running
from citewell.core.errors import ExtractionError, FetchError
from citewell.core.types import Failure, Page

if TYPE_CHECKING:
    from citewell.core.settings import Settings


@click.command("extract")
@click.argument("sources", metavar="FILE_OR_URL...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@common_options
def command(
    sources: tuple[str, ...],
    as_json: bool,
    networks: tuple[str, ...],
    assignments: tuple[str, ...],
    **named: Any,
) -> None:
    """Show the title and paragraphs extracted from each FILE_OR_URL."""
    from citewell.core.settings import load_settings

    settings = load_settings(flags(named, networks, assignments))
    if running.run(_extract(sources, settings, as_json=as_json)):
        raise click.exceptions.Exit(1)


async def _extract(sources: tuple[str, ...], settings: Settings, *, as_json: bool) -> int:
    failed = 0
    async for source, outcome in _pages(sources, settings):
        result: dict[str, object] = {
            "source": source,
            "title": None,
            "author": None,
            "date": None,
            "paragraphs": [],
            "notice": None,
            "error": None,
            "kind": None,
        }
        if isinstance(outcome, Failure):
            failed += 1
            result["error"] = outcome.reason
            result["kind"] = outcome.kind
        else:
            result["title"] = outcome.title
            result["author"] = outcome.author or None
            result["date"] = outcome.date or None
            result["paragraphs"] = [passage.text for passage in outcome.passages]
            result["notice"] = outcome.notice or None
        if as_json:
            click.echo(json.dumps(result, ensure_ascii=False))
        elif isinstance(outcome, Failure):
            click.echo(f"citewell: {source}: {outcome.reason}", err=True)
        else:
            click.echo("\n\n".join([outcome.title, *(passage.text for passage in outcome.passages)]) + "\n")
            if outcome.notice:
                click.echo(f"citewell: {source}: {outcome.notice}", err=True)
    return failed


async def _pages(sources: tuple[str, ...], settings: Settings) -> AsyncIterator[tuple[str, Page | Failure]]:
    from citewell.pipeline.fetching import open_extractor, open_fetcher, sandbox_limits
    from citewell.retriever.extract.sandbox import Sandbox
    from citewell.retriever.fetch.hedge import HedgedFetch
    from citewell.retriever.fetch.page_request import PageRequest

    async with (
        open_fetcher(settings) as fetcher,
        Sandbox(sandbox_limits(settings)) as sandbox,
        open_extractor(settings, fetcher, sandbox) as extractor,
    ):
        fetch = HedgedFetch(fetcher.fetch, after=None, max_hedges=len(sources))
        for source in sources:
            try:
                if "://" in source:
                    page = await fetch(PageRequest(source))
                    yield source, await extractor.extract(page.body, page.url, page.content_type)
                else:
                    yield source, await extractor.extract(Path(source).read_bytes(), source)  # noqa: ASYNC240
            except (ExtractionError, FetchError) as error:
                reason = ". ".join(filter(None, (error.message, error.hint)))
                kind = error.kind if isinstance(error, FetchError) else "extract"
                yield source, Failure(source, reason, kind)
            except OSError as error:
                yield source, Failure(source, f"the file cannot be read: {error.strerror}", "file")
