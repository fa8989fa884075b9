"""`citewell bootstrap refilter`: the data set of a run by other rules, without asking the teacher again."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from citewell.cli.commands.options import flags
from citewell.core.errors import InputError

_FOLDER = click.Path(file_okay=False, path_type=Path)
_CHANGEABLE = ("correction", "filters", "dataset")


@click.command("refilter", short_help="Filter the answers of a run by other rules.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option("--out", metavar="FOLDER", required=True, type=_FOLDER, help="Folder of the refiltered run.")
@click.option(
    "--recipe",
    "file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Recipe with sections correction, filters and dataset; those that it lacks are the run's.",
)
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set any key of these sections by name; repeatable.",
)
def refilter(folder: Path, out: Path, file: Path | None, assignments: tuple[str, ...]) -> None:
    """Correct and filter the answers of the bootstrap run in FOLDER by other rules, without its teacher.

    Run the same command to go on after an interruption, or once the run has more answers.
    """
    from citewell.bootstrap.command import changes, refilter_command
    from citewell.bootstrap.folder import FinishedRun
    from citewell.bootstrap.journal import Journal
    from citewell.bootstrap.judging import open_judge
    from citewell.bootstrap.overlap import read_evaluation
    from citewell.bootstrap.recipe import HANDBOOK, Recipe, with_values
    from citewell.bootstrap.refilter import refilter as write_again
    from citewell.bootstrap.support import open_support
    from citewell.cli.bootstrap_view import progress, write_and_show
    from citewell.cli.view import PlainView
    from citewell.core.recipe import load_recipe
    from citewell.core.settings import load_settings

    source = FinishedRun(folder)
    values: dict[str, Any] = flags({}, (), assignments)
    for name in values:
        if name.partition(".")[0] not in _CHANGEABLE:
            raise InputError(
                f"{name} cannot be changed for answers that are there already.",
                f"The keys of these sections can: {', '.join(_CHANGEABLE)}.",
            )
    stored = source.started["started_with"]["recipe"] | {"dataset": source.started.get("dataset", {})}
    read = load_recipe(Recipe, file, HANDBOOK) if file else Recipe()
    given = read.model_dump(include=read.model_fields_set.intersection(_CHANGEABLE))
    recipe = with_values(Recipe(**stored | given), values)
    settings = load_settings()
    evaluation = read_evaluation(settings.data, recipe.dataset)
    reader, judge, step = recipe.filters.reader, recipe.correction.judge, PlainView().step
    with ExitStack() as opened:
        support = opened.enter_context(open_support(reader, settings, step)) if reader else None
        judging = opened.enter_context(open_judge(judge, settings, step)) if judge else None
        done, total = (sum(1 for _ in Journal(each, 1).outcomes()) for each in (out, folder))
        with progress(done, total) as seen:
            write_again(source, out, recipe, support, judging, seen)
    shown = {name: recipe.model_dump(mode="json")[name] for name in _CHANGEABLE}
    command = refilter_command(folder, out, changes(shown, Recipe(**stored).model_dump(mode="json")))
    write_and_show(out, Journal(out, recipe.run.shard).outcomes, recipe.dataset, command, evaluation)
