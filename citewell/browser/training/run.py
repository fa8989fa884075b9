"""A training run of a policy, from a recipe to a folder with the adapter and its card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from citewell.browser.limits_file import write_limits
from citewell.browser.training.card import write_card
from citewell.browser.training.config import PolicyRecipe, load_config
from citewell.browser.training.encode import PairEncoder
from citewell.browser.training.measure import DevEpisodes, OpenWeb
from citewell.browser.training.sources import PolicyData, asked, read_data
from citewell.core.packages import need_packages
from citewell.core.progress import Tell
from citewell.core.training.checkpoints import quiet
from citewell.core.training.folder import finish, open_folder
from citewell.generator.defaults import GenerationDefaults
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.fit import FitTask, GeneratorRunResult, Goal, fit
from citewell.generator.training.model import DONE, TrainableGenerator, build_model, save_model
from citewell.generator.training.plan import GeneratorStep, RowDraw, plan
from citewell.generator.training.run import PACKAGES

# A command repeats words of the state and of itself, so nothing is penalised.
_DEFAULTS = GenerationDefaults(frequency_penalty=0.0)


@dataclass(frozen=True)
class PolicyRun:
    """Where a run reads and writes. `command` is what the card says it was started with.

    `open_web` opens what the policy browses while it is trained.
    """

    recipe: Path
    out: Path
    cache: Path
    command: str
    open_web: OpenWeb
    resume: bool = False


def train(run: PolicyRun, tell: Tell) -> GeneratorRunResult:
    """Clone the behaviour of the demonstrations that `run.recipe` names, and write the policy to `run.out`.

    With `resume` a run that was interrupted goes on from its last complete checkpoint. Raises `InputError`
    for a recipe or data that cannot be used and for a folder that holds something else, `ModelError` for a
    base that cannot be trained, and `TrainingError` for a loss that is no number.
    """
    need_packages("Training", "train", *PACKAGES)
    config = load_config(run.recipe)
    tell(config.shown())
    data = read_data(config, run.recipe, tell)
    open_folder(run.out, config.shown(), done=DONE[config.model.tuning], resume=run.resume)
    quiet()
    trained = build_model(config.model, run.cache, config.training.seed)
    encoder = PairEncoder(trained.whole, trained.tokenizer)
    steps = _plan(config, data, encoder)
    tell(f"{len(steps):,} steps, {sum(step.tokens for step in steps):,} tokens")
    return _train(run, config, data, trained, encoder, steps, tell)


def _plan(config: PolicyRecipe, data: PolicyData, encoder: PairEncoder) -> list[GeneratorStep]:
    training = config.training
    return plan(
        [encoder.lengths(source.pairs) for source in data.train],
        [source.repeat for source in data.train],
        epochs=training.epochs,
        batch=training.batch,
        part_tokens=training.part_tokens,
        seed=training.seed,
        steps=training.steps,
    )


def _train(
    run: PolicyRun,
    config: PolicyRecipe,
    data: PolicyData,
    trained: TrainableGenerator,
    encoder: PairEncoder,
    steps: list[GeneratorStep],
    tell: Tell,
) -> GeneratorRunResult:
    from citewell.core.training.plot import PLOT, draw

    def encode(row: RowDraw) -> TokenizedExample:
        return encoder.encode(data.train[row.source].pairs[row.row])

    chosen_by = config.training.choose_by
    questions = asked(config, run.recipe)
    dev = DevEpisodes(data.dev, questions, config, encoder, run.open_web) if config.measured else None
    job = FitTask(
        trained,
        config.training,
        steps,
        encode,
        Goal(chosen_by, greater=chosen_by == "score"),
        dev.measure if dev else None,
    )
    outcome, history = fit(job, run.out, tell)

    def write(folder: Path) -> None:
        save_model(trained, folder, config.model, _DEFAULTS)
        write_limits(config.browser.limits, folder)
        draw(history, folder / PLOT, "")
        write_card(folder, config, run.recipe, data, run.command, outcome)

    finish(run.out, write, done=DONE[config.model.tuning])
    return outcome
