"""`citewell search`: list the hits of the search providers, without fetching pages."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import flags, search_options
from citewell.core import running
from citewell.core.errors import InputError
from citewell.core.text import squeeze

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.retriever.search.metasearch import SearchResult


@click.command("search")
@click.argument("query")
@click.option("--limit", "search__hits", type=int, metavar="N", help="Max hits [10].")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
@search_options
def command(query: str, as_json: bool, assignments: tuple[str, ...], **named: Any) -> None:
    """Search for QUERY and list the hits, without fetching pages."""
    from citewell.core.settings import load_settings

    text = query.encode(errors="replace").decode().strip()
    if not text:
        raise InputError("The query is empty.", 'Give words to search for, such as "blue sky".')
    result = running.run(_search(text, load_settings(flags(named, (), assignments))))
    if as_json:
        click.echo(json.dumps({"query": text} | asdict(result), ensure_ascii=False))
    else:
        _show(result)


async def _search(text: str, settings: Settings) -> SearchResult:
    from citewell.pipeline.providers import open_search

    async with open_search(settings) as search:
        chosen = search.for_question(text)
        return await chosen.find(replace(chosen.query, text=text))


def _show(result: SearchResult) -> None:
    for notice in result.notices:
        click.echo(f"Note: {notice}", err=True)
    for failure in result.failures:
        click.echo(f"{failure.url} failed: {failure.reason}", err=True)
    for number, hit in enumerate(result.hits, start=1):
        click.echo(f"{number}. {hit.title}  [{hit.provider}]")
        click.echo(f"   {hit.url}")
        if hit.snippet:
            click.echo(f"   {squeeze(hit.snippet)}")
    if not result.hits:
        click.echo("No results.")
