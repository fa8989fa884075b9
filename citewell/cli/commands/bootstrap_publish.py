"""`citewell bootstrap publish`: pack a run with its raw answers, so that others can go on with it."""

from __future__ import annotations

from pathlib import Path

import click

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("publish", short_help="Pack a run with its raw answers.")
@click.argument("folder", metavar="FOLDER", type=_FOLDER)
@click.option("--questions", "file", metavar="FILE", required=True, type=_FILE, help="Questions of the run.")
@click.option("--out", metavar="FOLDER", required=True, type=_FOLDER, help="Folder to publish.")
@click.option(
    "--recipe",
    "recipe_file",
    metavar="FILE",
    type=_FILE,
    help="Recipe with the section dataset.",
)
def publish(folder: Path, file: Path, out: Path, recipe_file: Path | None) -> None:
    """Pack the bootstrap run in FOLDER: questions, raw answers, prompt, data set and card.

    The run may be unfinished. Copy the published folder, and the run's command continues with --out COPY.
    """
    from citewell.bootstrap.command import run_command
    from citewell.bootstrap.folder import FinishedRun, read_prompt
    from citewell.bootstrap.overlap import read_evaluation
    from citewell.bootstrap.publish import QUESTIONS
    from citewell.bootstrap.publish import publish as pack
    from citewell.bootstrap.questions import Questions
    from citewell.bootstrap.recipe import Recipe, read_recipe
    from citewell.bootstrap.teachers.shown_prompt import shown_prompt
    from citewell.cli.bootstrap_view import write_and_show
    from citewell.core.settings import load_settings

    run, dataset = FinishedRun(folder), read_recipe(recipe_file, {}).dataset
    evaluation = read_evaluation(load_settings().data, dataset)
    started = run.started["started_with"]
    config, settings = Recipe(**started["recipe"]), load_settings()
    prompt = read_prompt(folder) or shown_prompt(started["teacher"], config.prompt, settings.generator)
    pack(run, Questions(file, config.questions), out, prompt)
    made = run_command(Path(QUESTIONS), folder, started, dataset)
    write_and_show(out, FinishedRun(out).outcomes, dataset, made, evaluation)
