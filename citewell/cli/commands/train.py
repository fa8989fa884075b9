"""`citewell train`: new models from data."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from citewell.cli.commands.options import flags
from citewell.core.errors import InputError
from citewell.core.packages import need_packages

if TYPE_CHECKING:
    from citewell.generator.training.fit import GeneratorRunResult
    from citewell.retriever.training.card import EncoderRunResult

_MOST_FOLDS = 20


@click.group("train")
def command() -> None:
    """Train the models that Citewell works with."""


@command.command("extractor", short_help="Train the classifier of main text.")
@click.option(
    "--data",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Pages with their main text, as JSON lines; repeatable [all in $CITEWELL_DATA/pages].",
)
@click.option(
    "--out",
    metavar="FOLDER",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the classifier and its card.",
)
@click.option(
    "--folds",
    metavar="N",
    type=click.IntRange(0, _MOST_FOLDS),
    default=5,
    help="Shares of sites to cross-validate with, 0 for no scores [5].",
)
def extractor(files: tuple[Path, ...], out: Path, folds: int) -> None:
    """Train the classifier that tells the main text of HTML pages from what surrounds it.

    It is scored on pages of sites that it has not seen, then fitted to all pages. What was fitted is kept in
    the cache folder, so that a run that was interrupted is taken up by the same command.
    """
    need_packages("Training", "train", "catboost")
    if folds == 1:
        raise InputError("One fold leaves no page to learn from.", "Give --folds 5, or 0 for no scores.")
    from citewell.core.settings import load_settings
    from citewell.retriever.extract.main_text.classifier import save
    from citewell.retriever.extract.training.card import describe, score_table, write_card
    from citewell.retriever.extract.training.cross_validation import by_type, fold_classifiers, score_pages
    from citewell.retriever.extract.training.pages import LabelledPage, read_pages
    from citewell.retriever.extract.training.rows import data_files
    from citewell.retriever.extract.training.train import TrainingSettings, fit

    files = tuple(sorted(files or data_files(_data_folder()), key=lambda file: file.name))
    data = [describe(file) for file in files]
    click.echo(f"{sum(file.pages for file in data):,} pages with text in {len(files)} files.")
    settings = TrainingSettings()

    @cache
    def pages() -> list[LabelledPage]:
        _tell("reading pages")
        return list(read_pages(files))

    scores = []
    if folds:
        kept = load_settings().cache_dir / "extractor"
        classifiers = fold_classifiers(files, pages, settings, folds, kept, _tell)
        _tell("scoring")
        scores = by_type(score_pages(files, classifiers))
        click.echo(score_table(scores))
    save(fit(pages(), settings, _tell), out)
    write_card(out, data, settings, folds, scores, _command(files, folds))
    click.echo(f"The classifier and its card are in {out}.")


def _data_folder() -> Path:
    folder = os.environ.get("CITEWELL_DATA")
    if not folder:
        raise InputError(
            "There are no pages to learn from.",
            "Name the files with --data, or the folder of data with CITEWELL_DATA.",
        )
    return Path(folder)


def _command(files: tuple[Path, ...], folds: int) -> str:
    data = " ".join(f"--data {file.name}" for file in files)
    return f"citewell train extractor {data} --folds {folds}"


def _run(holds: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options of a run whose folder `holds` so and so in the end."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        out = click.option(
            "--out",
            metavar="FOLDER",
            required=True,
            type=click.Path(file_okay=False, path_type=Path),
            help=holds,
        )
        resume = click.option(
            "--resume", is_flag=True, help="Go on with the run in the folder, if there is one."
        )
        return out(resume(function))

    return add


def _shown(what: str, source: list[str], out: Path) -> str:
    """The command as a card shows it, without the folders of this computer."""
    return shlex.join(["citewell", "train", what, *source, "--out", out.resolve().name])


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _report(outcome: GeneratorRunResult | EncoderRunResult, out: Path) -> None:
    for name, value in outcome.after.items():
        click.echo(f"{name}: {value:.4f}, before {outcome.before[name]:.4f}")
    click.echo(f"The model and its card are in {out}.")


@command.command("retriever", short_help="Train the dual encoder.")
@click.argument("config", type=click.Path(dir_okay=False, path_type=Path))
@_run("Folder for the model, its adapters and its card.")
def retriever(config: Path, out: Path, resume: bool) -> None:
    """Train the dual encoder as the TOML file CONFIG says: model, data, objectives.

    The file is explained in docs/training-retriever.md; recipes/ has examples. A run that was interrupted
    goes on with --resume, with the result that it would have had otherwise.
    """
    from citewell.core.settings import load_settings
    from citewell.retriever.training.run import EncoderRun, train

    cache = load_settings().cache_dir
    shown = _shown("retriever", [config.name], out)
    _report(train(EncoderRun(config, out, cache, shown, resume), _tell), out)


@command.command("generator", short_help="Train the language model that writes answers.")
@click.argument("recipe", metavar="CONFIG", type=click.Path(dir_okay=False, path_type=Path))
@_run("Folder for the adapter, or the whole model, and its card.")
@click.option(
    "--export",
    "merged",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the whole model too, the adapter merged into its weights.",
)
def generator(recipe: Path, out: Path, resume: bool, merged: Path | None) -> None:
    """Train a language model to write cited answers, as the TOML file CONFIG says.

    The file is explained in docs/training-generator.md; recipes/ has examples. A run that was interrupted
    goes on with --resume, with the result that it would have had otherwise.
    """
    from citewell.core.settings import load_settings
    from citewell.generator.training.run import GeneratorRun, train

    cache = load_settings().cache_dir
    shown = _shown("generator", [recipe.name], out)
    _report(train(GeneratorRun(recipe, out, cache, shown, resume, merged), _tell), out)


@command.command("policy", short_help="Train a policy of the text browser.")
@click.argument("recipe", metavar="CONFIG", type=click.Path(dir_okay=False, path_type=Path))
@_run("Folder for the adapter, its limits and its card.")
@click.option("--collection", metavar="NAME", help="Collection that is searched while it is trained.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Any setting by its name; repeatable."
)
def policy(
    recipe: Path, out: Path, resume: bool, collection: str | None, assignments: tuple[str, ...]
) -> None:
    """Train a language model to browse as in demonstrations, as the TOML file CONFIG says.

    The file is explained in docs/browser-training.md; recipes/ has an example. While it is trained, the model
    browses for questions with known answers, in the web that the settings describe; how often it finds them
    chooses the best checkpoint. A run that was interrupted goes on with --resume.
    """
    from citewell.browser.training.run import PolicyRun, train
    from citewell.core.settings import load_settings
    from citewell.pipeline.web import open_web

    settings = load_settings(flags({"search__collection": collection}, (), assignments))
    shown = _shown("policy", [recipe.name, *(["--collection", collection] if collection else [])], out)
    run = PolicyRun(recipe, out, settings.cache_dir, shown, lambda: open_web(settings), resume)
    _report(train(run, _tell), out)


@command.command("scorer", short_help="Train the model of what people prefer.")
@click.argument("recipe", metavar="[CONFIG]", required=False, type=click.Path(dir_okay=False, path_type=Path))
@_run("Folder for the adapter, the head and the card.")
@click.option(
    "--from",
    "feedback",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Train a scorer further on feedback, in place of CONFIG.",
)
@click.option(
    "--scorer", "current", metavar="NAME", default=None, help="With --from: the scorer to begin with."
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1), default=2, help="With --from: CPU threads [2]."
)
@click.option(
    "--force", is_flag=True, help="With --from: write the scorer though it has little data or is worse."
)
def scorer(
    recipe: Path | None,
    out: Path,
    resume: bool,
    feedback: Path | None,
    current: str | None,
    threads: int,
    force: bool,
) -> None:
    """Train a scorer as the TOML file CONFIG says, or with --from train one further on users' feedback.

    The file is explained in docs/training-scorer.md; recipes/ has examples. A run that was interrupted goes
    on with --resume, with the result that it would have had otherwise. With --from, a scorer that is worse
    than the one that it began with is not written.
    """
    from citewell.core.settings import load_settings
    from citewell.scorer.load import DEFAULT
    from citewell.scorer.training.config import load_config
    from citewell.scorer.training.feedback import FeedbackRun, retrain
    from citewell.scorer.training.run import ScorerRun, train

    cache = load_settings().cache_dir
    if (recipe is None) == (feedback is None):
        raise InputError("There must be either CONFIG or --from.", "Give one of them.")
    if recipe is not None:
        if current is not None or force:
            raise InputError("--scorer and --force are for --from.", "Leave them out, or CONFIG.")
        shown = _shown("scorer", [recipe.name], out)
        outcome = train(ScorerRun(load_config(recipe), recipe, out, cache, shown, resume), _tell)
    else:
        assert feedback is not None
        name = current or DEFAULT
        shown = _shown("scorer", ["--from", feedback.name, "--scorer", Path(name).name], out)
        outcome = retrain(FeedbackRun(feedback, name, out, cache, shown, threads, resume, force), _tell)
    for measure, value in (outcome.test or outcome.after).items():
        click.echo(f"{measure}: {value:.4f}" + _before(outcome.before.get(measure), bool(outcome.test)))
    click.echo(f"The scorer and its card are in {out}.")


def _before(value: float | None, tested: bool) -> str:
    return "" if tested or value is None else f", before {value:.4f}"
