"""A training run, from a configuration to a folder with the model and its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.core.packages import need_packages
from citewell.core.progress import Tell
from citewell.core.training.folder import CHECKPOINTS, finish, open_folder
from citewell.retriever.encoder.load import EngineName, load_encoder
from citewell.retriever.encoder.resolve import resolve
from citewell.retriever.training.candidates import Miner
from citewell.retriever.training.card import EncoderRunResult, write_card
from citewell.retriever.training.collate import EncoderCollator
from citewell.retriever.training.config import EncoderRecipe, load_config
from citewell.retriever.training.dev import MEAN
from citewell.retriever.training.inner_products import InnerProducts, read_inner_products
from citewell.retriever.training.model import build_model, save_model
from citewell.retriever.training.objectives import AnchorConfig, build_mixture
from citewell.retriever.training.plan import Batch, plan
from citewell.retriever.training.rows import LabeledRow
from citewell.retriever.training.sources import EncoderData, Mine, read_data

if TYPE_CHECKING:
    from transformers import TrainerState

_PACKAGES = ("sentence_transformers", "peft", "datasets", "accelerate", "matplotlib")
_DONE = "modules.json"


@dataclass(frozen=True)
class EncoderRun:
    """Where a run reads and writes. `command` is what the card says it was started with."""

    config: Path
    out: Path
    cache: Path
    command: str
    resume: bool = False


def train(run: EncoderRun, tell: Tell) -> EncoderRunResult:
    """Train the model that `run.config` describes, and write it to `run.out`.

    With `resume` a run that was interrupted goes on from its last complete checkpoint, with the result that
    it would have had otherwise. Raises `InputError` for a configuration or data that cannot be used and for a
    folder that holds something else, and `TrainingError` for a loss that is no number.
    """
    need_packages("Training", "train", *_PACKAGES)
    config = load_config(run.config)
    tell(config.shown())
    # What is not there is told before anything is computed and before the folder is begun.
    for name in (config.model.base, *(each.teacher(run.config) for each in config.teachers)):
        resolve(name)
    data = read_data(config, run.config, _miner(config, run.cache, tell))
    batches = plan(
        data.train,
        epochs=config.training.epochs,
        size=config.training.batch,
        list_size=config.training.list_size,
        seed=config.training.seed,
        steps=config.training.steps,
    )
    tell(_summary(data, batches))
    open_folder(run.out, config.shown(), done=_DONE, resume=run.resume)
    return _train(run, config, data, batches, tell)


def _train(
    run: EncoderRun, config: EncoderRecipe, data: EncoderData, batches: list[Batch], tell: Tell
) -> EncoderRunResult:
    import torch
    from datasets import Dataset

    from citewell.core.training.checkpoints import checkpoint_step, last_checkpoint, quiet
    from citewell.core.training.plot import PLOT, draw
    from citewell.core.training.progress import Progress, dev_metrics
    from citewell.retriever.training.trainer import DevEvaluator, DualEncoderTrainer, arguments

    quiet()
    torch.set_num_threads(config.training.threads)
    checkpoint = last_checkpoint(run.out / CHECKPOINTS)
    model = build_model(config.model, config.training.seed)
    encoders = _encoders(run, config, data, tell)
    # The trainer asks for a collator of its own kind, and calls it only.
    collator: Any = EncoderCollator(batches, data.train, model.preprocess, encoders)
    progress = Progress([len(batch.draws) for batch in batches], "questions", run.out, tell)
    trainer = DualEncoderTrainer(
        model=model,
        args=arguments(
            config.training, run.out / CHECKPOINTS, measured=bool(data.dev), resumed=checkpoint is not None
        ),
        train_dataset=Dataset.from_dict({"batch": list(range(len(batches)))}),
        loss=build_mixture(model, config.objectives),
        evaluator=DevEvaluator(data.dev) if data.dev else None,
        data_collator=collator,
    )
    trainer.follow(progress, config.training.patience)
    if checkpoint is not None:
        tell(f"going on after step {checkpoint_step(checkpoint):,}")
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    state: TrainerState = trainer.state
    outcome = _outcome(state, progress.seconds, dev_metrics)

    def write(folder: Path) -> None:
        save_model(model, folder, config.model.base)
        draw(state.log_history, folder / PLOT, MEAN)
        write_card(folder, config, run.config, data, run.command, outcome)

    finish(run.out, write, done=_DONE)
    return outcome


def _outcome(state: TrainerState, seconds: float, dev_metrics: Any) -> EncoderRunResult:
    measured = {entry["step"]: dev_metrics(entry) for entry in state.log_history if f"eval_{MEAN}" in entry}
    best = state.best_global_step or state.global_step
    return EncoderRunResult(
        state.global_step, best, round(seconds, 1), measured.get(0, {}), measured.get(best, {})
    )


def _miner(config: EncoderRecipe, cache: Path, tell: Tell) -> Mine:
    """Mines with the encoder of the configuration, which is loaded when the first source asks for it."""

    def mine(rows: Sequence[LabeledRow], others: Sequence[str], negatives: int) -> tuple[LabeledRow, ...]:
        encoder = load_encoder(
            config.mining.encoder, cache, max_tokens=config.model.max_tokens, threads=config.training.threads
        )
        return Miner(encoder, config.mining, cache / "vectors", tell).mine(rows, others, negatives)

    return mine


def _encoders(
    run: EncoderRun, config: EncoderRecipe, data: EncoderData, tell: Tell
) -> dict[str, InnerProducts]:
    """What each encoder that an objective learns from says of the training data."""
    from citewell.retriever.losses.encoder_kl import BEFORE

    def read(name: str, engine: EngineName) -> InnerProducts:
        encoder = load_encoder(
            name,
            run.cache,
            max_tokens=config.model.max_tokens,
            threads=config.training.threads,
            engine=engine,
        )
        return read_inner_products(data.train, encoder, run.cache / "vectors", tell)

    found = {each.encoder: read(each.teacher(run.config), "auto") for each in config.teachers}
    if any(isinstance(objective, AnchorConfig) for objective in config.objectives):
        # In float32, as it is trained: what int8 adds would be learnt.
        found[BEFORE] = read(config.model.base, "torch")
    return found


def _summary(data: EncoderData, batches: list[Batch]) -> str:
    lines = [f"{source.name}: {len(source.rows):,} questions to learn from" for source in data.train]
    lines += [f"{each.name}: {len(each.rows):,} questions to measure {each.measure} on" for each in data.dev]
    return "\n".join([*lines, f"{len(batches):,} steps"])
