"""A training run of a generator, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.core.errors import InputError
from citewell.core.packages import need_packages
from citewell.core.progress import Tell
from citewell.core.training.checkpoints import quiet
from citewell.core.training.folder import finish, open_folder
from citewell.generator.training.card import write_card
from citewell.generator.training.config import GeneratorRecipe, load_config
from citewell.generator.training.dev import GeneratorDevSets
from citewell.generator.training.encode import ExampleTokenizer, TokenizedExample
from citewell.generator.training.fit import FitTask, GeneratorRunResult, Goal, fit
from citewell.generator.training.model import DONE, TrainableGenerator, build_model, export, save_model
from citewell.generator.training.plan import GeneratorStep, RowDraw, plan
from citewell.generator.training.sources import GeneratorData, read_data

PACKAGES = ("trl", "peft", "datasets", "accelerate", "matplotlib")


@dataclass(frozen=True)
class GeneratorRun:
    """Where a run reads and writes. `command` is what the card says it was started with.

    `export` is the folder for the model with its adapters merged, if it is wanted.
    """

    recipe: Path
    out: Path
    cache: Path
    command: str
    resume: bool = False
    export: Path | None = None


def train(run: GeneratorRun, tell: Tell) -> GeneratorRunResult:
    """Train the model that `run.recipe` describes, and write it to `run.out`.

    With `resume` a run that was interrupted goes on from its last complete checkpoint, with the result that
    it would have had otherwise. Raises `InputError` for a recipe or data that cannot be used and for a folder
    that holds something else, `ModelError` for a base that cannot be trained, and `TrainingError` for a loss
    that is no number.
    """
    need_packages("Training", "train", *PACKAGES)
    config = load_config(run.recipe)
    tell(config.shown())
    data = read_data(config, run.recipe, tell)
    if run.export is not None and run.export.exists():
        raise InputError(f"{run.export} is there already.", "Give another folder with --export.")
    open_folder(run.out, config.shown(), done=DONE[config.model.tuning], resume=run.resume)
    quiet()
    trained = build_model(config.model, run.cache, config.training.seed)
    encoder = ExampleTokenizer(trained.whole, trained.tokenizer, config.prompt, config.training.seed)
    if not config.prompt.cut:
        data = data.fitting(encoder.fits, tell)
    steps = _plan(config, data, encoder)
    tell(_summary(data, steps))
    return _train(run, config, data, trained, encoder, steps, tell)


def _plan(config: GeneratorRecipe, data: GeneratorData, encoder: ExampleTokenizer) -> list[GeneratorStep]:
    training = config.training
    return plan(
        [encoder.lengths(source.examples) for source in data.train],
        [source.repeat for source in data.train],
        epochs=training.epochs,
        batch=training.batch,
        part_tokens=training.part_tokens,
        seed=training.seed,
        steps=training.steps,
    )


def _train(
    run: GeneratorRun,
    config: GeneratorRecipe,
    data: GeneratorData,
    trained: TrainableGenerator,
    encoder: ExampleTokenizer,
    steps: list[GeneratorStep],
    tell: Tell,
) -> GeneratorRunResult:
    from citewell.core.training.plot import PLOT, draw

    def encode(row: RowDraw) -> TokenizedExample:
        return encoder.encode(encoder.shown(data.train[row.source], row.row, row.time))

    chosen_by = config.training.choose_by
    measure = GeneratorDevSets(data.dev, config, encoder).measure if config.measured else None
    job = FitTask(
        trained, config.training, steps, encode, Goal(chosen_by, greater=chosen_by == "citation_f1"), measure
    )
    outcome, history = fit(job, run.out, tell)

    def write(folder: Path) -> None:
        save_model(trained, folder, config.model, config.prompt.defaults)
        draw(history, folder / PLOT, "")
        write_card(folder, config, run.recipe, data, run.command, outcome)

    finish(run.out, write, done=DONE[config.model.tuning])
    if run.export is not None:
        export(trained, run.export, config.prompt.defaults)
    return outcome


def _summary(data: GeneratorData, steps: Sequence[GeneratorStep]) -> str:
    lines = [f"{source.name}: {len(source.examples):,} rows to learn from" for source in data.train]
    lines += [f"{source.name}: {len(source.examples):,} rows to measure on" for source in data.dev]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
