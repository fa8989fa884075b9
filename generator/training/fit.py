"""The optimisation itself: planned steps, checkpoints, measurements, and the average of the weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from citewell.core.progress import Tell
from citewell.core.training.checkpoints import checkpoint_step, last_checkpoint
from citewell.core.training.folder import CHECKPOINTS
from citewell.generator.training.collate import GeneratorCollator
from citewell.generator.training.config import OptimisationConfig
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.loss import part_loss
from citewell.generator.training.model import TrainableGenerator
from citewell.generator.training.plan import GeneratorStep, RowDraw

Measure = Callable[[Any], dict[str, float]]
"""Dev metrics of a model, by their names."""


class Goal(NamedTuple):
    """The dev metric that chooses among checkpoints: the more of it the better, or the less."""

    metric: str
    greater: bool


@dataclass(frozen=True)
class FitTask:
    """What is fitted to what. `encode` makes the tokens of a row when it is due.

    Without `measure` the last weights are kept.
    """

    trained: TrainableGenerator
    training: OptimisationConfig
    steps: Sequence[GeneratorStep]
    encode: Callable[[RowDraw], TokenizedExample]
    goal: Goal
    measure: Measure | None


@dataclass(frozen=True)
class GeneratorRunResult:
    """What a run came to. `before` and `after` are dev metrics by name.

    `tokens` were learnt from, prompts included, on `device`.
    """

    steps: int
    best_step: int
    seconds: float
    device: str
    tokens: int
    before: Mapping[str, float]
    after: Mapping[str, float]


class FittedModel(NamedTuple):
    """The outcome, and the log of losses and dev metrics. The model has the weights that are kept."""

    outcome: GeneratorRunResult
    history: list[dict[str, float]]


def fit(job: FitTask, folder: Path, tell: Tell) -> FittedModel:
    """Train `job.trained` in place, from the last complete checkpoint in `folder` on if there is one.

    Raises `TrainingError` for a loss that is no number.
    """
    import torch
    from datasets import Dataset

    from citewell.core.training.average import Average
    from citewell.core.training.progress import Progress, dev_metrics
    from citewell.generator.training.trainer import GeneratorTrainer, arguments

    training, steps, model = job.training, job.steps, job.trained.model
    torch.set_num_threads(training.threads)
    checkpoint = last_checkpoint(folder / CHECKPOINTS)
    # The trainer asks for a collator of its own kind, and calls it only.
    collator: Any = GeneratorCollator(steps, job.encode, packing=training.packing)
    rows = Dataset.from_dict({"step": list(range(len(steps)))})
    progress = Progress([step.tokens for step in steps], "tokens", folder, tell)
    trainer = GeneratorTrainer(
        model=model,
        args=arguments(
            training,
            folder / CHECKPOINTS,
            job.goal.metric if job.measure else None,
            greater=job.goal.greater,
            resumed=checkpoint is not None,
        ),
        train_dataset=rows,
        eval_dataset=rows if job.measure else None,
        processing_class=job.trained.tokenizer,
        data_collator=collator,
    )
    average = Average(model, training.ema) if training.ema is not None else None
    trainer.begin(part_loss, progress, training.patience, job.measure, average)
    if checkpoint is not None:
        tell(f"going on after step {checkpoint_step(checkpoint):,}")
    trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    if average is not None:
        average.apply()
    state = trainer.state
    measured = {
        int(entry["step"]): dev_metrics(entry)
        for entry in state.log_history
        if f"eval_{job.goal.metric}" in entry
    }
    best = state.best_global_step or state.global_step
    outcome = GeneratorRunResult(
        state.global_step,
        best,
        round(progress.seconds, 1),
        torch.cuda.get_device_name() if torch.cuda.is_available() else f"{training.threads} CPU threads",
        sum(step.tokens for step in steps[: state.global_step]),
        measured.get(0, {}),
        measured.get(best, {}),
    )
    return FittedModel(outcome, state.log_history)
