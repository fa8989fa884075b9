"""`citewell eval browse`: how often policies find what is asked, and what it costs."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from citewell.cli.commands.options import flags
from citewell.cli.commands.output import check_folders, replace, told
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.browser.evaluation.evaluate import Result
    from citewell.browser.evaluation.questions import BrowsingQuestion
    from citewell.core.settings import Settings

_FILE = click.Path(dir_okay=False, path_type=Path)
_NAME = re.compile(r"(?:(?P<n>[1-9]\d?)\*)?(?P<name>\S.*)")


class Named(NamedTuple):
    """A system as the command line has it: `4*NAME` is the best of four episodes."""

    label: str
    name: str
    n: int


@click.command("browse", short_help="Measure how well policies browse.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@click.option("--stats", is_flag=True, help="FILE holds episodes: count their actions and tokens.")
@click.option(
    "--systems",
    metavar="NAMES",
    default="random,scripted",
    help="random, scripted, pipeline, a trained policy or any generator; several by commas, and 4*NAME for "
    "the best of four episodes [random,scripted].",
)
@click.option("--baseline", metavar="NAME", help="System to compare with [the first].")
@click.option("--free", is_flag=True, help="Let language models write what they like, valid or not.")
@click.option(
    "--actions", metavar="N", type=click.IntRange(1), help="Most commands of an episode [the policy's]."
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N questions.")
@click.option("--collection", metavar="NAME", help="Collection to search.")
@click.option(
    "--episodes",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep all episodes there, a file a system; what is there is not asked again.",
)
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write {system: {measure: value}} there.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables there.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Any setting by its name; repeatable."
)
def browse(
    files: tuple[Path, ...],
    stats: bool,
    systems: str,
    baseline: str | None,
    free: bool,
    actions: int | None,
    limit: int | None,
    collection: str | None,
    folder: Path | None,
    out: Path | None,
    markdown: Path | None,
    assignments: tuple[str, ...],
) -> None:
    """Measure policies on FILE, JSON lines of {question, answers}.

    A question counts as found where a quote has one of the answers. `pipeline` stands for the references that
    `citewell retrieve` finds. With --stats, FILE... are episodes, as --episodes, `citewell browse --trace`
    and the service write them, and the table is that of WebGLM's appendix B: how often each action, and how
    many tokens.
    """
    if stats:
        click.echo(_statistics(files))
        return
    if len(files) != 1:
        raise InputError("Several files of questions are given.", "Give one, or --stats for episodes.")
    from citewell.browser.evaluation.questions import read_questions
    from citewell.browser.evaluation.report import as_json
    from citewell.browser.evaluation.report import markdown as report
    from citewell.core.settings import load_settings

    check_folders(out, markdown)
    named = [_named(label) for label in systems.split(",") if label.strip()]
    if not named:
        raise InputError("No system is named.", "Name one with --systems.")
    first = baseline or named[0].label
    if first not in {each.label for each in named}:
        raise InputError(f"The baseline {first} is none of the systems.", "Name it in --systems too.")
    settings = load_settings(flags({"search.collection": collection}, (), assignments))
    asked = read_questions(files[0], limit)
    if folder is not None:
        _make(folder)
    outcomes = asyncio.run(_evaluate(named, asked, settings, folder, actions, free))
    text = report(outcomes, first)
    with told(text):
        if out is not None:
            replace(out, as_json(outcomes))
        if markdown is not None:
            replace(markdown, text + "\n")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be made: {error.strerror}.", "Name another one with --episodes."
        ) from error


def _named(label: str) -> Named:
    found = _NAME.fullmatch(label.strip())
    assert found is not None
    return Named(label.strip(), found["name"], int(found["n"] or 1))


def _statistics(files: Sequence[Path]) -> str:
    from citewell.browser.episode import read_episodes
    from citewell.browser.evaluation.statistics import statistics
    from citewell.generator.estimate import estimate_tokens

    episodes = [episode for file in files for episode in read_episodes(file)]
    if not episodes:
        raise InputError("There are no episodes in the files.", "Name files that hold some.")
    return f"{len(episodes):,} episodes\n\n{statistics(episodes, estimate_tokens).table()}"


async def _evaluate(
    named: Sequence[Named],
    asked: Sequence[BrowsingQuestion],
    settings: Settings,
    folder: Path | None,
    actions: int | None,
    free: bool,
) -> dict[str, dict[str, Result]]:
    import tempfile

    from citewell.browser.evaluation.evaluate import evaluate
    from citewell.pipeline.browsing_systems import open_systems

    outcomes = {}
    async with AsyncExitStack() as opened:
        kept = folder or Path(opened.enter_context(tempfile.TemporaryDirectory()))
        systems = await opened.enter_async_context(
            open_systems(settings, actions=actions, free=free, tell=_tell)
        )
        # All are opened first, so that one that cannot be is told of at once.
        ready = [(each, await systems.open(each.label, each.name, each.n)) for each in named]
        for each, system in ready:
            file = kept / f"{each.label.replace('/', '_')}.jsonl"
            outcomes[each.label] = await evaluate(system, asked, file, _tell)
    return outcomes


def _tell(text: str) -> None:
    click.echo(text, err=True)
