"""Options that several commands share. Each one fills a setting.

A parameter called `retriever__k` fills the setting `retriever.k`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from citewell.core.collection_flag import with_collection
from citewell.core.errors import SettingsError
from citewell.core.profiles import PROFILES

F = TypeVar("F", bound=Callable[..., Any])


def _joined(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> str | None:
    return " ".join(values) or None


_SEARCH = (
    click.option(
        "--collection",
        "search__collection",
        metavar="NAME",
        help="Collection to search, instead of Wikipedia and the web, or beside what --search names.",
    ),
    click.option(
        "--search",
        "search__providers",
        multiple=True,
        callback=_joined,
        metavar="NAMES",
        help="auto, collection, searxng, wikipedia, ddgs, brave, tavily, serpapi, google or bing; separate "
        "several by commas [auto].",
    ),
    click.option("--language", "search__language", metavar="CODE", help="Language of the pages, such as de."),
    click.option("--country", "search__country", metavar="CODE", help="Country to search from, such as DE."),
    click.option(
        "--recency",
        "search__recency",
        type=click.Choice(["day", "week", "month", "year"]),
        help="Max age of a page.",
    ),
    click.option(
        "--site",
        "search__sites",
        multiple=True,
        callback=_joined,
        metavar="DOMAIN",
        help="Only pages of this domain; repeatable.",
    ),
    click.option(
        "--deny-domains",
        "search__deny_domains",
        multiple=True,
        callback=_joined,
        metavar="DOMAINS",
        help="Skip pages of these domains; webgpt stands for reddit.com and quora.com.",
    ),
    click.option(
        "--bing-endpoint", "search__bing_endpoint", metavar="URL", help="URL of a Bing-compatible search API."
    ),
)
_RETRIEVAL = (
    click.option("--k", "retriever__k", type=int, metavar="N", help="References [5]."),
    click.option(
        "--encoder",
        "retriever__encoder",
        metavar="MODEL",
        help="Dual encoder: packaged model, folder or hub id.",
    ),
)
_ANSWER = (
    click.option(
        "--generator",
        "generator__name",
        metavar="NAME",
        help="auto, extractive, a name of `citewell models`, a GGUF file, a folder, a hub id or openai:MODEL "
        "[auto].",
    ),
    click.option(
        "--best-of",
        "generator__best_of",
        type=int,
        metavar="N",
        help="Candidate answers to write and choose from [1].",
    ),
    click.option(
        "--scorer",
        "scorer__name",
        metavar="NAME",
        help="Scorer that chooses the best candidate: shipped name or folder [citation support].",
    ),
    click.option(
        "--drop-unsupported",
        "citations__drop_unsupported",
        is_flag=True,
        default=None,
        help="Drop sentences that no reference supports.",
    ),
)
_NETWORK = click.option(
    "--allow-network",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="Allow fetching from a private network, such as 10.0.0.0/8; repeatable.",
)
_RENDER = click.option(
    "--render",
    "fetch__render",
    type=click.Choice(["never", "auto", "always"]),
    help="Render pages in Chromium: only those without text (auto), or all [never].",
)
_EXTRACTOR = click.option(
    "--extractor",
    "extract__extractor",
    type=click.Choice(["main", "paper"]),
    help="HTML extractor: Citewell's own (main) or WebGLM's html2text (paper) [main].",
)
_PROXY = click.option("--proxy", "fetch__proxy", metavar="URL", help="HTTP proxy for fetching pages.")
_ROBOTS = click.option(
    "--robots/--no-robots",
    "fetch__robots",
    default=None,
    help="Obey or ignore robots.txt [obey].",
)
_SET = click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)


def profile_option(command: F) -> F:
    """Add `--profile`."""
    return click.option(
        "--profile",
        type=click.Choice(PROFILES),
        help="Settings that belong together, where no others are set.",
    )(command)


def search_options(command: F) -> F:
    """Add the search options and `--set`."""
    for option in reversed(_SEARCH):
        command = option(command)
    return _SET(command)


def writer_option(command: F) -> F:
    """Add the option that names the generator."""
    return _ANSWER[0](command)


def answer_options(command: F) -> F:
    """Add the options that say who writes an answer and chooses among several."""
    for option in reversed(_ANSWER):
        command = option(command)
    return command


def place_options(command: F) -> F:
    """Add `--collection`, `--search`, `--profile` and `--set`."""
    for option in (_SET, *reversed(_SEARCH[:2])):
        command = option(command)
    return profile_option(command)


def detail_options(command: F) -> F:
    """Add the options that say how much of an answer is shown."""
    for option in (
        click.option("-v", "--verbose", is_flag=True, help="Show the seconds of each stage, and the models."),
        click.option("--all", "all_references", is_flag=True, help="Show uncited references too."),
    ):
        command = option(command)
    return command


def retrieval_options(command: F) -> F:
    """Add the search and ranking options, `--profile`, and those of `common_options`."""
    for option in reversed(_SEARCH + _RETRIEVAL):
        command = option(command)
    return profile_option(common_options(command))


def common_options(command: F) -> F:
    """Add `--extractor`, `--render`, `--allow-network`, `--proxy`, `--robots` and `--set`."""
    return _EXTRACTOR(_RENDER(_NETWORK(_PROXY(_ROBOTS(_SET(command))))))


def flags(named: dict[str, Any], networks: tuple[str, ...], assignments: tuple[str, ...]) -> dict[str, Any]:
    """The settings given on the command line, by dotted name. Raises `SettingsError` for a bad `--set`."""
    values = dict(with_collection({name.replace("__", "."): value for name, value in named.items()}))
    if networks:
        values["fetch.allow_networks"] = " ".join(networks)
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or not name:
            raise SettingsError(f"--set {assignment} is not NAME=VALUE.", "For example: --set retriever.k=3.")
        values[name.strip()] = value.strip()
    return values
