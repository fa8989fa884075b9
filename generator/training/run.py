"""A training run of a generator, from a recipe to a folder with the model and its card."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Log
from citewell.core.training.card import describe_files, write_card
from citewell.core.training.fit import FitTask, Goal, fit
from citewell.core.training.folder import finish, new_folder, open_folder
from citewell.core.training.plan import PlannedDraw, PlannedStep, plan
from citewell.core.training.run import Run, RunResult
from citewell.generator.training.card import describe
from citewell.generator.training.config import GeneratorRecipe, load_config
from citewell.generator.training.dev import GeneratorDevSets
from citewell.generator.training.encode import ExampleTokenizer, TokenizedExample
from citewell.generator.training.model import DONE, TrainableGenerator, build_model, export_model, save_model
from citewell.generator.training.sources import GeneratorData, read_data, source_files
from citewell.generator.training.task import fit_task

PACKAGES = ("trl", "peft", "datasets", "accelerate", "matplotlib")


def train(run: Run, tell: Log, export: Path | None = None) -> RunResult:
    """Train the model that `run.recipe` describes, and write it to `run.out`.

    `export` is a folder for the model with its adapters merged. An interrupted run is resumed. Raises
    `InputError` for a recipe, data or a folder that cannot be used, `ModelError` for a base that cannot be
    trained, and `TrainingError` for a loss that is not finite.
    """
    if export is not None:
        _check_apart(run.out, export)
    need_packages("Training", "train", *PACKAGES)
    from citewell.core.training.checkpoints import quiet
    from citewell.core.training.plot import PLOT, draw

    config = load_config(run.recipe)
    tell(config.shown())
    files = describe_files(
        {"train": config.data, "dev": config.dev}, lambda source: source_files(source, run.folders)
    )
    data = read_data(
        config, run.folders, tell, references=config.prompt.references, seed=config.training.seed
    )
    if export is not None:
        new_folder(export, "--export")
    done = DONE[config.model.tuning]
    with open_folder(run.out, config.shown(), files, done=done):
        quiet()
        trained = build_model(config.model, run.cache, config.training.seed)
        encoder = ExampleTokenizer(trained.whole, trained.tokenizer, config.prompt, config.training.seed)
        if not config.prompt.cut:
            data = data.fitting(encoder.fitting, tell)
        result, history = fit(_task(config, data, trained, encoder, tell), run.out, tell)

        def write(folder: Path) -> None:
            save_model(trained, folder, config.model, config.prompt.defaults)
            draw(history, folder / PLOT)
            card = describe(config, run, data, files, result)
            write_card(folder, card, run, config.training, files, result)
            if export is not None:
                partial = export.with_name(f"{export.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                export_model(trained, partial, config.prompt.defaults)
                partial.rename(export)

        finish(run.out, write, done=done)
    return result


def _check_apart(out: Path, export: Path) -> None:
    """Raise `InputError` for an export that would write into the run's folder, or around it."""
    first, second = out.resolve(), export.resolve()
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise InputError(
            f"{out} (--out) and {export} (--export) are one folder, or one is inside the other.",
            "Choose a folder beside --out with --export.",
        )


def _task(
    config: GeneratorRecipe,
    data: GeneratorData,
    trained: TrainableGenerator,
    encoder: ExampleTokenizer,
    tell: Log,
) -> FitTask:
    rows = [(source, row) for source in data.train for row in range(len(source.examples))]
    sizes = [size for source in data.train for size in encoder.sizes(source)]
    steps = plan(sizes, [source.repeat for source, _ in rows], config.training)
    tell(_summary(data, steps))

    def encode(draw: PlannedDraw) -> TokenizedExample:
        return encoder.encode(encoder.shown(*rows[draw.place], draw.time))

    selected_by = config.training.choose_by
    goal = Goal(selected_by, higher=selected_by == "citation_f1")
    evaluate = GeneratorDevSets(data.dev, config, encoder).measure if config.measured else None
    return fit_task(trained, config.training, steps, encode, goal, evaluate)


def _summary(data: GeneratorData, steps: Sequence[PlannedStep]) -> str:
    lines = [f"{source.name}: {len(source.examples):,} training rows" for source in data.train]
    lines += [f"{source.name}: {len(source.examples):,} dev rows" for source in data.dev]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
