"""A training run of a generator, from a recipe to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.packages import need_packages
from core.telling import Tell
from core.training.checkpoints import quiet
from core.training.folder import CHECKPOINTS, finish, open_folder
from generator.training.card import Outcome, write_card
from generator.training.collate import Collator
from generator.training.config import Config, load_config
from generator.training.dev import DevSets
from generator.training.encode import Encoder
from generator.training.loss import part_loss
from generator.training.model import DONE, Trainable, build_model, export, save_model
from generator.training.plan import Step, plan
from generator.training.sources import Data, read_data

if TYPE_CHECKING:
    from transformers import TrainerState

_PACKAGES = ("trl", "peft", "datasets", "accelerate", "matplotlib")


@dataclass(frozen=True)
class Run:
    """Where a run reads and writes. `command` is what the card says it was started with.

    `export` is the folder for the model with its adapters merged, if it is wanted.
    """

    recipe: Path
    out: Path
    cache: Path
    command: str
    resume: bool = False
    export: Path | None = None


def train(run: Run, tell: Tell) -> Outcome:
    """Train the model that `run.recipe` describes, and write it to `run.out`.

    With `resume` a run that was interrupted goes on from its last complete checkpoint, with the result that
    it would have had otherwise. Raises `InputError` for a recipe or data that cannot be used and for a folder
    that holds something else, `ModelError` for a base that cannot be trained, and `TrainingError` for a loss
    that is no number.
    """
    need_packages("Training", "train", *_PACKAGES)
    config = load_config(run.recipe)
    tell(config.shown())
    data = read_data(config, run.recipe, tell)
    if run.export is not None and run.export.exists():
        raise InputError(f"{run.export} is there already.", "Give another folder with --export.")
    open_folder(run.out, config.shown(), done=DONE[config.model.tuning], resume=run.resume)
    quiet()
    trained = build_model(config.model, run.cache, config.training.seed)
    encoder = Encoder(trained.whole, trained.tokenizer, config.prompt, config.training.seed)
    if not config.prompt.cut:
        data = data.fitting(encoder.fits, tell)
    steps = _plan(config, data, encoder)
    tell(_summary(data, steps))
    return _train(run, config, data, trained, encoder, steps, tell)


def _plan(config: Config, data: Data, encoder: Encoder) -> list[Step]:
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
    run: Run, config: Config, data: Data, trained: Trainable, encoder: Encoder, steps: list[Step], tell: Tell
) -> Outcome:
    import torch
    from datasets import Dataset

    from core.training.average import Average
    from core.training.checkpoints import checkpoint_step, last_checkpoint
    from core.training.plot import PLOT, draw
    from core.training.progress import Progress, dev_metrics
    from generator.training.trainer import GeneratorTrainer, arguments

    training = config.training
    torch.set_num_threads(training.threads)
    checkpoint = last_checkpoint(run.out / CHECKPOINTS)
    # The trainer asks for a collator of its own kind, and calls it only.
    collator: Any = Collator(steps, data.train, encoder, packing=training.packing)
    rows = Dataset.from_dict({"step": list(range(len(steps)))})
    progress = Progress([step.tokens for step in steps], "tokens", run.out, tell)
    trainer = GeneratorTrainer(
        model=trained.model,
        args=arguments(
            training, run.out / CHECKPOINTS, measured=config.measured, resumed=checkpoint is not None
        ),
        train_dataset=rows,
        eval_dataset=rows if config.measured else None,
        processing_class=trained.tokenizer,
        data_collator=collator,
    )
    average = Average(trained.model, training.ema) if training.ema is not None else None
    dev = DevSets(data.dev, config, encoder) if config.measured else None
    trainer.begin(part_loss, progress, training.patience, dev.measure if dev else None, average)
    if checkpoint is not None:
        tell(f"going on after step {checkpoint_step(checkpoint):,}")
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if average is not None:
        average.apply()
    outcome = _outcome(trainer.state, steps, progress.seconds, _device(training.threads), dev_metrics)

    def write(folder: Path) -> None:
        save_model(trained, folder, config.model, config.prompt.manner)
        draw(trainer.state.log_history, folder / PLOT, "")
        write_card(folder, config, run.recipe, data, run.command, outcome)

    finish(run.out, write, done=DONE[config.model.tuning])
    if run.export is not None:
        export(trained, run.export, config.prompt.manner)
    return outcome


def _outcome(
    state: TrainerState, steps: Sequence[Step], seconds: float, device: str, dev_metrics: Any
) -> Outcome:
    measured = {
        entry["step"]: dev_metrics(entry) for entry in state.log_history if "eval_answer_loss" in entry
    }
    best = state.best_global_step or state.global_step
    return Outcome(
        state.global_step,
        best,
        round(seconds, 1),
        device,
        sum(step.tokens for step in steps[: state.global_step]),
        measured.get(0, {}),
        measured.get(best, {}),
    )


def _device(threads: int) -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{threads} CPU threads"


def _summary(data: Data, steps: Sequence[Step]) -> str:
    lines = [f"{source.name}: {len(source.examples):,} rows to learn from" for source in data.train]
    lines += [f"{source.name}: {len(source.examples):,} rows to measure on" for source in data.dev]
    tokens = sum(step.tokens for step in steps)
    return "\n".join([*lines, f"{len(steps):,} steps, about {tokens:,} tokens"])
