"""`citewell train`: new models from data."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from citewell.cli.commands.options import flags
from citewell.core.errors import InputError
from citewell.core.packages import need_packages

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.core.training.run import Run, RunResult

_MOST_FOLDS = 20


@click.group("train")
def command() -> None:
    """Train Citewell's models.

    Run the same command to resume an interrupted run; the result is the same.
    """


@command.command("extractor", short_help="Train the classifier of main text.")
@click.option(
    "--data",
    "files",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Pages with their main text, as JSON lines; repeatable [all in `pages/` of the data folder].",
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
    help="Folds of the cross-validation by site, 0 for none [5].",
)
def extractor(files: tuple[Path, ...], out: Path, folds: int) -> None:
    """Train the classifier that tells the main text of HTML pages from what surrounds it.

    It is evaluated on pages of unseen sites, then fitted to all pages.
    """
    need_packages("Training", "train", "catboost")
    if folds == 1:
        raise InputError("One fold leaves no page to train on.", "Give --folds 5, or 0 for no evaluation.")
    from citewell.core.settings import load_settings
    from citewell.core.training.folder import new_folder
    from citewell.retriever.extract.main_text.classifier import save
    from citewell.retriever.extract.training.card import describe, score_table, write_card
    from citewell.retriever.extract.training.cross_validation import by_type, fold_classifiers, score_pages
    from citewell.retriever.extract.training.pages import LabeledPage, read_pages
    from citewell.retriever.extract.training.rows import data_files
    from citewell.retriever.extract.training.train import TrainingSettings, fit

    configured = load_settings()
    files = tuple(sorted(files or data_files(_data_folder(configured.data)), key=lambda file: file.name))
    new_folder(out)
    data = [describe(file) for file in files]
    click.echo(f"{sum(file.pages for file in data):,} pages with text in {len(files)} files.")
    settings = TrainingSettings()

    @cache
    def pages() -> list[LabeledPage]:
        _tell("reading pages")
        return list(read_pages(files))

    scores = []
    if folds:
        kept = configured.cache_dir / "extractor"
        classifiers = fold_classifiers(files, pages, settings, folds, kept, _tell)
        _tell("scoring")
        scores = by_type(score_pages(files, classifiers))
        click.echo(score_table(scores))
    save(fit(pages(), settings, _tell), out)
    write_card(out, data, settings, folds, scores, _command(files, folds))
    click.echo(f"The classifier and its card are in {out}.")


def _data_folder(data: Path | None) -> Path:
    if data is None:
        raise InputError(
            "No pages to train on.",
            "Name files with --data, or set `data` (CITEWELL_DATA) to your data folder.",
        )
    return data


def _command(files: tuple[Path, ...], folds: int) -> str:
    data = " ".join(f"--data {file.name}" for file in files)
    return f"citewell train extractor {data} --folds {folds}"


def _out(help_text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--out",
        metavar="FOLDER",
        required=True,
        type=click.Path(file_okay=False, path_type=Path),
        help=help_text,
    )


def _recipe(name: str = "RECIPE", *, required: bool = True) -> Callable[..., Any]:
    kind = click.Path(dir_okay=False, path_type=Path)
    return click.argument("recipe", metavar=name, required=required, type=kind)


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _run(recipe: Path, out: Path, settings: Settings, shown: Sequence[str]) -> Run:
    """A run whose model card shows the command `citewell train`, without folders of this computer."""
    from citewell.core.training.run import Run

    command = shlex.join(["citewell", "train", *shown, "--out", out.resolve().name])
    return Run(recipe=recipe, out=out, cache=settings.cache_dir, data=settings.data, command=command)


def _report(result: RunResult, out: Path) -> None:
    for name, value in result.test.items():
        click.echo(f"{name}: {value:.4f}")
    for name, value in result.after.items() if not result.test else ():
        before = f", before {result.before[name]:.4f}" if name in result.before else ""
        click.echo(f"{name}: {value:.4f}{before}")
    click.echo(f"The model and its card are in {out}.")


@command.command("retriever", short_help="Train the dual encoder.")
@_recipe()
@_out("Folder for the model, its adapters and its card.")
def retriever(recipe: Path, out: Path) -> None:
    """Train the dual encoder that the TOML file RECIPE describes: model, data, objectives.

    docs/training-retriever.md explains the recipe.
    """
    from citewell.core.settings import load_settings
    from citewell.retriever.training.run import train

    _report(train(_run(recipe, out, load_settings(), ["retriever", recipe.name]), _tell), out)


@command.command("reranker", short_help="Train a cross-encoder, which orders candidates or judges claims.")
@_recipe()
@_out("Folder for the adapter or the layers, the head and the card.")
def reranker(recipe: Path, out: Path) -> None:
    """Train the cross-encoder that the TOML file RECIPE describes: model, data, objective.

    docs/training-retriever.md explains the recipe.
    """
    from citewell.core.settings import load_settings
    from citewell.retriever.cross_encoder.training.run import train

    _report(train(_run(recipe, out, load_settings(), ["reranker", recipe.name]), _tell), out)


@command.command("judge", short_help="Train the language model that judges answers.")
@_recipe()
@_out("Folder for the adapter and its card.")
def judge(recipe: Path, out: Path) -> None:
    """Train a language model to judge support and answers, as the TOML file RECIPE describes.

    docs/training-generator.md explains the recipe.
    """
    from citewell.core.settings import load_settings
    from citewell.generator.training.judge.run import train

    _report(train(_run(recipe, out, load_settings(), ["judge", recipe.name]), _tell), out)


@command.command("labels", short_help="Have a language model label passages for training.")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="JSON lines of labels; those that it holds are kept.",
)
@click.option(
    "--teacher", metavar="NAME", required=True, help="A GGUF file, a packaged model or `openai:MODEL`."
)
@click.option("--each", metavar="N", type=click.IntRange(1), default=6, help="Passages per question [6].")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Max labels [all].")
@click.option(
    "--price", metavar="X", type=click.FloatRange(0), default=0.0, help="Price of a million tokens, to show."
)
def labels(
    files: tuple[Path, ...], out: Path, teacher: str, each: int, limit: int | None, price: float
) -> None:
    """Ask a language model whether passages answer the questions of FILEs, which are pairs.

    docs/training-retriever.md explains the formats.
    """
    from citewell.bootstrap.labels.run import LabelRun, write_labels
    from citewell.core import running
    from citewell.core.settings import load_settings
    from citewell.generator.load import open_yes_model

    # Labels are the model's own, as those that are published.
    settings = load_settings(flags({"generator__name": teacher, "generator__judge_adapter": ""}, (), ()))

    async def judged() -> str:
        async with open_yes_model(
            settings.generator,
            settings.cache_dir,
            threads=settings.threads,
            on_step=lambda model, step: _tell(f"{model}: {step}"),
        ) as judge:
            run = LabelRun(files=files, out=out, each=each, limit=limit, price=price)
            return str(await write_labels(run, judge, _tell))

    click.echo(running.run(judged()))


@command.command("generator", short_help="Train the language model that writes answers.")
@_recipe()
@_out("Folder for the adapter, or the whole model, and its card.")
@click.option(
    "--export",
    "export",
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the whole model, with the adapter merged, to this folder.",
)
def generator(recipe: Path, out: Path, export: Path | None) -> None:
    """Train a language model to write cited answers, as the TOML file RECIPE describes.

    docs/training-generator.md explains the recipe.
    """
    from citewell.core.settings import load_settings
    from citewell.generator.training.run import train

    _report(train(_run(recipe, out, load_settings(), ["generator", recipe.name]), _tell, export), out)


@command.command("answers", short_help="Improve a generator's answers by reinforcement.")
@_recipe("[RECIPE]", required=False)
@_out("Folder for the adapter and its card.")
@click.option("--from-feedback", is_flag=True, help="Learn from what users of the service judged.")
@click.option("--database", metavar="URL", help="With --from-feedback: database [server.database_url].")
@click.option("--generator", metavar="NAME", help="With --from-feedback: generator to start from.")
@click.option("--scorer", metavar="NAME", help="With --from-feedback: scorer to train further.")
@click.option(
    "--force", is_flag=True, help="With --from-feedback: accept little feedback, and models that are worse."
)
def answers(
    recipe: Path | None,
    out: Path,
    from_feedback: bool,
    database: str | None,
    generator: str | None,
    scorer: str | None,
    force: bool,
) -> None:
    """Improve a generator against a reward, as the TOML file RECIPE describes: by PPO, PPO-ptx, GRPO or RLOO.

    With --from-feedback, the reward is learned from the judgments of the service's users. A generator that is
    worse than the one it started from is not written. docs/reinforcement.md and
    docs/learning-from-users.md explain both.
    """
    from citewell.core.settings import load_settings
    from citewell.reinforcement.run import train

    settings = load_settings()
    if from_feedback:
        shown = ["answers", *([recipe.name] if recipe else []), "--from-feedback"]
        run = _run(recipe or out, out, settings, shown)
        _report(_learn(run, recipe, database, generator, scorer, settings.threads, force=force), out)
    elif recipe is None:
        raise InputError("Either RECIPE or --from-feedback is required.", "Give one of them, or both.")
    elif force or any((database, generator, scorer)):
        raise InputError(
            "--database, --generator, --scorer and --force require --from-feedback.",
            "Remove them, or add it.",
        )
    else:
        _report(train(_run(recipe, out, settings, ["answers", recipe.name]), _tell), out)


def _learn(
    run: Run,
    recipe: Path | None,
    database: str | None,
    generator: str | None,
    scorer: str | None,
    threads: int,
    *,
    force: bool,
) -> RunResult:
    import importlib

    from citewell.reinforcement.config import load_config
    from citewell.reinforcement.feedback.recipe import FeedbackRun
    from citewell.reinforcement.feedback.run import learn_from_feedback
    from citewell.scorer.load import DEFAULT

    # The service imports this package.
    export = importlib.import_module("citewell.server.commands.judgments").export_judgments
    options = FeedbackRun(
        start=generator,
        scorer=scorer or DEFAULT,
        threads=threads,
        recipe=load_config(recipe) if recipe is not None else None,
        force=force,
    )
    return learn_from_feedback(run, options, lambda folder: export(database, folder), _tell)


@command.command("policy", short_help="Train a policy of the text browser.")
@_recipe()
@_out("Folder for the adapter, its limits and its card.")
@click.option("--collection", metavar="NAME", help="Collection to search during training.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)
def policy(recipe: Path, out: Path, collection: str | None, assignments: tuple[str, ...]) -> None:
    """Train a language model to browse as in demonstrations, as the TOML file RECIPE describes.

    docs/browser-training.md explains the recipe. The model browses for questions with known answers; how
    often it finds them selects the best checkpoint.
    """
    from citewell.browser.training.run import train
    from citewell.core.settings import load_settings
    from citewell.pipeline.web import open_web

    settings = load_settings(flags({"search__collection": collection}, (), assignments))
    shown = ["policy", recipe.name, *(["--collection", collection] if collection else [])]
    _report(train(_run(recipe, out, settings, shown), _tell, lambda: open_web(settings)), out)


@command.command("browsing", short_help="Improve a browsing policy by PPO.")
@_recipe()
@_out("Folder for the adapter, its limits and its card.")
@click.option("--collection", metavar="NAME", help="Collection to search during training.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Set any setting by name; repeatable."
)
def browsing(recipe: Path, out: Path, collection: str | None, assignments: tuple[str, ...]) -> None:
    """Improve a trained policy against a reward while it browses, as the TOML file RECIPE describes.

    docs/browser-training.md explains the recipe.
    """
    from citewell.core.settings import load_settings
    from citewell.pipeline.parts import build_ranker
    from citewell.pipeline.web import open_web
    from citewell.reinforcement.browsing.run import train

    settings = load_settings(flags({"search__collection": collection}, (), assignments))
    shown = ["browsing", recipe.name, *(["--collection", collection] if collection else [])]
    relevance = build_ranker(settings).scores
    _report(train(_run(recipe, out, settings, shown), _tell, lambda: open_web(settings), relevance), out)


@command.command("scorer", short_help="Train the model of what people prefer.")
@_recipe("[RECIPE]", required=False)
@_out("Folder for the adapter, the head and the card.")
@click.option(
    "--from",
    "feedback",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Train a scorer further on feedback, instead of RECIPE.",
)
@click.option(
    "--scorer", "current", metavar="NAME", default=None, help="With --from: the scorer to start from."
)
@click.option(
    "--threads", metavar="N", type=click.IntRange(1), default=None, help="With --from: CPU threads [2]."
)
@click.option(
    "--force", is_flag=True, help="With --from: accept little feedback, and a scorer that is worse."
)
def scorer(
    recipe: Path | None,
    out: Path,
    feedback: Path | None,
    current: str | None,
    threads: int | None,
    force: bool,
) -> None:
    """Train a scorer as the TOML file RECIPE describes or, with --from, train one further on feedback.

    docs/training-scorer.md explains the recipe. With --from, a scorer that is worse than the one it started
    from is not written.
    """
    from citewell.core.settings import load_settings
    from citewell.scorer.load import DEFAULT
    from citewell.scorer.training.feedback import retrain
    from citewell.scorer.training.run import train

    settings = load_settings()
    if recipe is not None and feedback is None:
        if current is not None or threads is not None or force:
            raise InputError("--scorer, --threads and --force require --from.", "Remove them, or RECIPE.")
        result = train(_run(recipe, out, settings, ["scorer", recipe.name]), _tell)
    elif feedback is not None and recipe is None:
        name = current or DEFAULT
        shown = ["scorer", "--from", feedback.name, "--scorer", Path(name).name]
        run = _run(feedback, out, settings, shown)
        result = retrain(run, name, _tell, threads=threads or 2, force=force)
    else:
        raise InputError("Either RECIPE or --from is required.", "Give one of them.")
    _report(result, out)
