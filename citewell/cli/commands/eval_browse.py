"""`citewell eval browse`: how often browsing policies find the answer, and at what cost."""

from __future__ import annotations

import functools
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import click

from citewell.cli.commands.lists import choose_baseline, read_best_of, read_list
from citewell.cli.commands.options import flags
from citewell.cli.commands.output import check_files, write_results
from citewell.core import running
from citewell.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.browser.evaluation.evaluate import Result
    from citewell.core.questions import AnsweredQuestion
    from citewell.core.settings import Settings

_FILE = click.Path(dir_okay=False, path_type=Path)


class SystemName(NamedTuple):
    """A system as named on the command line: `4*NAME` is the best of four episodes of NAME."""

    label: str
    name: str
    n: int


@click.command("browse", short_help="Evaluate browsing policies.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_FILE)
@click.option(
    "--stats",
    is_flag=True,
    help="Count actions and tokens of the episodes in each FILE, as in WebGLM, appendix B.",
)
@click.option(
    "--systems",
    metavar="NAMES",
    default="random,scripted",
    help="random, scripted, pipeline, a trained policy or any generator; separate several by commas; 4*NAME "
    "is the best of four episodes [random,scripted].",
)
@click.option("--baseline", metavar="NAME", help="System to compare the others with [the first].")
@click.option("--free", is_flag=True, help="Do not constrain language models to valid commands.")
@click.option(
    "--actions", metavar="N", type=click.IntRange(1), help="Max commands per episode [the policy's]."
)
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Use only the first N questions.")
@click.option("--collection", metavar="NAME", help="Collection to search.")
@click.option(
    "--episodes",
    "folder",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Store episodes in FOLDER, one file per system; stored questions are not run again.",
)
@click.option("--json", "out", metavar="FILE", type=_FILE, help="Write {system: {metric: value}} to FILE.")
@click.option("--markdown", metavar="FILE", type=_FILE, help="Write the tables to FILE.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
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
    """Evaluate browsing policies on FILE, JSON Lines of {question, answers}.

    A question counts as found if a quote contains one of its answers. `pipeline` stands for the references
    that `citewell retrieve` finds.
    """
    if stats:
        click.echo(_statistics(files))
        return
    if len(files) != 1:
        raise InputError(
            "Only one file of questions can be given.", "Give one FILE, or add --stats for files of episodes."
        )
    from citewell.browser.evaluation.report import as_json, details
    from citewell.browser.evaluation.report import markdown as report
    from citewell.core.questions import read_questions
    from citewell.core.settings import load_settings

    check_files(out, markdown)
    labels = read_list(systems, "system")
    first = choose_baseline(baseline, labels, "system")
    named = [_named(label) for label in labels]
    settings = load_settings(flags({"search.collection": collection}, (), assignments))
    asked = read_questions(files[0], limit)
    if folder is not None:
        _make(folder)
        check_files(*(_episodes(folder, label) for label in labels))
    outcomes = running.run(_evaluate(named, asked, settings, folder, actions, free))
    tables = functools.partial(report, baseline=first)
    write_results(outcomes, out, markdown, markdown=tables, summary=as_json, details=details)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {folder} cannot be created: {error.strerror}.", "Name another one with --episodes."
        ) from error


def _episodes(folder: Path, label: str) -> Path:
    return folder / f"{quote(label, safe=' *:+,=')}.jsonl"


def _named(label: str) -> SystemName:
    n, name = read_best_of(label)
    return SystemName(label, name, n)


def _statistics(files: Sequence[Path]) -> str:
    from citewell.browser.episode import read_episodes
    from citewell.browser.evaluation.statistics import statistics
    from citewell.generator.estimate import estimate_tokens

    episodes = [episode for file in files for episode in read_episodes(file)]
    if not episodes:
        raise InputError(
            "The files hold no episodes.", "`citewell eval browse --episodes FOLDER` writes some."
        )
    return f"{len(episodes):,} episodes\n\n{statistics(episodes, estimate_tokens).table()}"


async def _evaluate(
    named: Sequence[SystemName],
    asked: Sequence[AnsweredQuestion],
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
        stored = folder or Path(opened.enter_context(tempfile.TemporaryDirectory()))
        systems = await opened.enter_async_context(
            open_systems(settings, actions=actions, free=free, log=_log)
        )
        # All are opened first, so that one that fails to open is reported at once.
        ready = [(each, await systems.open(each.label, each.name, each.n)) for each in named]
        for each, system in ready:
            outcomes[each.label] = await evaluate(system, asked, _episodes(stored, each.label), _log)
    return outcomes


def _log(text: str) -> None:
    click.echo(text, err=True)
