"""Trainers of transformers on planned steps, with checkpoints of the trained weights only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import SequentialSampler
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainerState
from transformers.trainer import TRAINER_STATE_NAME

from citewell.core.training.average import Average
from citewell.core.training.checkpoints import check_finite, checkpoint_at, load_trained, save_trained
from citewell.core.training.config import OptimizationConfig, PartedOptimizationConfig
from citewell.core.training.fit import Evaluate
from citewell.core.training.precision import uses_bfloat16
from citewell.core.training.progress import Progress

PartLoss = Callable[[Any, Mapping[str, Any]], torch.Tensor]
"""The loss of a part of a step; those of all parts add up to the loss of the step."""

_SCHEDULES = {"linear": "linear", "cosine": "cosine", "constant": "constant_with_warmup"}


class TrainedCheckpoints:
    """For a trainer to inherit: checkpoints of the trained weights only, and of their average."""

    _average: Average | None = None

    def keep_average(self, average: Average) -> None:
        """Update the average after each step, and keep it in checkpoints."""
        trainer: Any = self
        self._average = average
        trainer.add_callback(AveragingCallback(average))

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        trainer: Any = self
        checkpoint = Path(output_dir or str(trainer.args.output_dir))
        save_trained(trainer.model, checkpoint)
        if self._average is not None:
            self._average.save(checkpoint)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        trainer: Any = self
        load_trained(trainer.model, Path(resume_from_checkpoint))
        if self._average is not None:
            self._average.load(Path(resume_from_checkpoint))


class CheckpointedTrainer(TrainedCheckpoints, Trainer):
    """A trainer that saves the trained weights only, and leaves reporting to `Progress`.

    Each item of the data set stands for a whole step, in the order of the plan.
    """

    _measure: Evaluate | None = None

    def follow(
        self,
        progress: Progress,
        patience: int | None = None,
        evaluate: Evaluate | None = None,
        average: Average | None = None,
    ) -> None:
        """Report by `progress`, stop after `patience` evaluations without improvement, update the average."""
        self._measure = evaluate
        self.remove_callback(PrinterCallback)
        if average is not None:
            self.keep_average(average)
        self.add_callback(progress)
        if patience is not None:
            self.add_callback(EarlyStoppingCallback(early_stopping_patience=patience))

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Compute and log the dev metrics, with the averaged weights if there are any."""
        assert self._measure is not None
        with self._average.used() if self._average is not None else nullcontext():
            found = self._measure(self.model)
        metrics = {f"eval_{name}": value for name, value in found.items()}
        chosen_by = self.args.metric_for_best_model
        if chosen_by in metrics:
            check_finite(metrics[chosen_by], f"After step {self.state.global_step}, {chosen_by}")
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def stopped(self, checkpoint: Path, patience: int | None) -> bool:
        """Return whether the run of a checkpoint had stopped early; if so, take its state."""
        state = TrainerState.load_from_json(str(checkpoint / TRAINER_STATE_NAME))
        kept = state.stateful_callbacks.get(EarlyStoppingCallback.__name__, {}).get("attributes", {})
        if patience is None or kept.get("early_stopping_patience_counter", 0) < patience:
            return False
        self.state = state
        return True

    def use_best(self) -> None:
        """Load the weights with the best dev metric, if any was measured after a step.

        The base class looks for them where they were when they were written, which a run that was moved, or
        resumed from another working directory, does not have.
        """
        if step := self.state.best_global_step:
            self._load_from_checkpoint(str(checkpoint_at(Path(self.args.output_dir or ""), step)))


class PlannedTrainer(CheckpointedTrainer):
    """A trainer that computes each step part by part, and adds the gradients up."""

    part_loss: PartLoss
    """Set this before training."""

    def training_step(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> torch.Tensor:
        """Return the loss of a step; raises `TrainingError` if it is not finite."""
        model.train()
        parts: Any = self._prepare_inputs(inputs)["parts"]
        total = torch.zeros((), device=self.args.device)
        for part in parts:
            # The base class computes the model's own forward pass in this format, but not those of its parts.
            with self.accelerator.autocast():
                loss = self.part_loss(model, part)
            self.accelerator.backward(loss)
            total += loss.detach()
        check_finite(total.item(), f"The loss of step {self.state.global_step + 1}")
        return total

    def _get_train_sampler(self, train_dataset: Any = None) -> SequentialSampler:
        rows: Any = train_dataset or self.train_dataset
        return SequentialSampler(rows)


class HeadedTrainer(PlannedTrainer):
    """Trains a model with the part `head` at a separate learning rate for this part."""

    head_rate = 1.0
    """The learning rate of the head, as a multiple of that of the rest."""

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """Create AdamW with a separate learning rate for the head."""
        model: Any = self.model
        rate = self.args.learning_rate
        head = list(model["head"].parameters())
        known = {id(value) for value in head}
        rest = [value for value in model.parameters() if value.requires_grad and id(value) not in known]
        groups = [{"params": rest, "lr": rate}, {"params": head, "lr": rate * self.head_rate}]
        self.optimizer = torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=rate, weight_decay=self.args.weight_decay
        )
        return self.optimizer


class AveragingCallback(TrainerCallback):
    """Updates an average of the weights after each step."""

    def __init__(self, average: Average) -> None:
        self._average = average

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Update the average."""
        self._average.update()


def _schedule(training: OptimizationConfig) -> dict[str, Any]:
    if training.schedule == "cosine" and training.schedule_floor:
        floor = {"min_lr_rate": training.schedule_floor}
        return {"lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": floor}
    return {"lr_scheduler_type": _SCHEDULES[training.schedule]}


def planned_arguments(
    training: OptimizationConfig, folder: Path, best: str | None, *, steps: int, higher: bool, resumed: bool
) -> dict[str, Any]:
    """Arguments of a trainer that goes once through a plan of so many steps with all epochs in it.

    Checkpoints are written to `folder`. `best` names the metric that selects the best one, where `higher`
    values are better; without it nothing is evaluated. A run that is not `resumed` is evaluated before its
    first step too.
    """
    evaluated = best is not None
    precision = training.precision if isinstance(training, PartedOptimizationConfig) else "float32"
    return {
        "output_dir": str(folder),
        "num_train_epochs": 1,
        "per_device_train_batch_size": 1,
        "learning_rate": training.learning_rate,
        **_schedule(training),
        "warmup_steps": int(training.warmup * steps),
        "weight_decay": training.weight_decay,
        "max_grad_norm": training.clip,
        "bf16": uses_bfloat16(precision),
        "seed": training.seed,
        "remove_unused_columns": False,
        "eval_strategy": "steps" if evaluated else "no",
        "eval_steps": training.eval_every,
        "eval_on_start": evaluated and not resumed,
        "save_strategy": "steps",
        "save_steps": training.eval_every,
        "save_total_limit": 2,
        "metric_for_best_model": f"eval_{best}" if evaluated else None,
        "greater_is_better": higher if evaluated else None,
        "logging_steps": training.log_every,
        "logging_nan_inf_filter": False,
        "restore_callback_states_from_checkpoint": True,
        "dataloader_pin_memory": False,
        "use_cpu": not torch.cuda.is_available(),
        "report_to": "none",
        "disable_tqdm": True,
    }
