"""The optimization of every trainer: planned steps, checkpoints, evaluations, and the best weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.progress import Log
from citewell.core.training.checkpoints import checkpoint_step, last_checkpoint
from citewell.core.training.clock import Clock
from citewell.core.training.config import OptimizationConfig
from citewell.core.training.folder import CHECKPOINTS
from citewell.core.training.run import RunResult

if TYPE_CHECKING:
    from transformers import TrainerState

    from citewell.core.training.trainer import CheckpointedTrainer

Evaluate = Callable[[Any], dict[str, float]]
"""Computes the dev metrics of a model, by name."""


class Goal(NamedTuple):
    """The dev metric that selects the best checkpoint, and whether a higher value is better."""

    metric: str
    higher: bool = True


@dataclass(frozen=True, kw_only=True)
class FitTask:
    """A model to be fitted.

    `make` builds the trainer from its arguments and a data set whose rows are steps. `sizes` has one entry
    per step, in a `unit` such as tokens. Without `evaluate` the last weights are kept.
    """

    training: OptimizationConfig
    make: Callable[[dict[str, Any], Any], CheckpointedTrainer]
    sizes: Sequence[int]
    unit: str
    goal: Goal
    evaluate: Evaluate | None


class FittedModel(NamedTuple):
    """The result, and the log of losses and dev metrics. The model that was fitted has the best weights."""

    result: RunResult
    history: list[dict[str, float]]


def fit(task: FitTask, folder: Path, tell: Log) -> FittedModel:
    """Train a model in place, from the last complete checkpoint in `folder` if there is one.

    Without steps, the model is evaluated only. Raises `TrainingError` for a loss that is not finite.
    """
    import torch
    from datasets import Dataset

    from citewell.core.training.average import Average
    from citewell.core.training.progress import Progress
    from citewell.core.training.trainer import planned_arguments

    training, goal = task.training, task.goal
    torch.set_num_threads(training.threads)
    checkpoint = last_checkpoint(folder / CHECKPOINTS)
    best = goal.metric if task.evaluate else None
    arguments = planned_arguments(
        training,
        folder / CHECKPOINTS,
        best,
        steps=len(task.sizes),
        higher=goal.higher,
        resumed=checkpoint is not None,
    )
    trainer = task.make(arguments, Dataset.from_dict({"step": list(range(len(task.sizes)))}))
    clock = Clock(folder / CHECKPOINTS)
    progress = Progress(task.sizes, task.unit, folder, clock, tell)
    model: Any = trainer.model
    average = Average(model, training.ema) if training.ema is not None else None
    trainer.follow(progress, training.patience, task.evaluate, average)
    if checkpoint is not None:
        tell(f"resuming after step {checkpoint_step(checkpoint):,}")
    if checkpoint is not None and trainer.stopped(checkpoint, training.patience):
        tell("it had stopped early")
    elif task.sizes:
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    elif task.evaluate:
        trainer.evaluate()
    trainer.use_best()
    if average is not None:
        average.apply()
    return FittedModel(_result(task, trainer.state, clock.seconds), trainer.state.log_history)


def _result(task: FitTask, state: TrainerState, seconds: float) -> RunResult:
    from citewell.core.training.progress import dev_metrics

    key = f"eval_{task.goal.metric}"
    metrics: Mapping[int, dict[str, float]] = {
        int(entry["step"]): dev_metrics(entry) for entry in state.log_history if key in entry
    }
    best = state.best_global_step or state.global_step
    return RunResult(
        steps=state.global_step,
        best_step=best,
        seconds=seconds,
        device=device_name(task.training.threads),
        seen=sum(task.sizes[: state.global_step]),
        unit=task.unit,
        before=metrics.get(0, {}),
        after=metrics.get(best, {}),
    )


def device_name(threads: int) -> str:
    """Return the name of the GPU, or the number of CPU threads where there is none."""
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{threads} CPU threads"
