"""The trainer of transformers, with a learning rate of its own for the head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import TrainingArguments

from citewell.core.training.trainer import PlannedTrainer, planned_arguments
from citewell.scorer.training.config import ScorerTrainingConfig

_LOWER_IS_BETTER = {"pair_loss"}


class ScorerTrainer(PlannedTrainer):
    """Trains on steps that are planned beforehand (`citewell.scorer.training.plan`).

    TRL's RewardTrainer takes pairs of one chosen and one rejected answer; here an element of a batch has all
    answers to a question (InstructGPT §3.4), ties, and gradients are accumulated over parts of one length.
    """

    head_rate = 1.0
    """The learning rate of the model's part `head`, as a multiple of that of the rest."""

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """AdamW, with a rate of its own for the head."""
        model: Any = self.model
        rate = self.args.learning_rate
        head = list(model.head.parameters())
        known = {id(value) for value in head}
        rest = [value for value in model.parameters() if value.requires_grad and id(value) not in known]
        groups = [{"params": rest, "lr": rate}, {"params": head, "lr": rate * self.head_rate}]
        self.optimizer = torch.optim.AdamW(
            [group for group in groups if group["params"]], lr=rate, weight_decay=self.args.weight_decay
        )
        return self.optimizer


def arguments(
    training: ScorerTrainingConfig, folder: Path, *, measured: bool, resumed: bool
) -> TrainingArguments:
    """The arguments of the trainer; `measured` says that there is dev data."""
    best = training.choose_by if measured else None
    return TrainingArguments(
        **planned_arguments(training, folder, best, greater=best not in _LOWER_IS_BETTER, resumed=resumed),
        bf16=torch.cuda.is_available() or training.precision == "bfloat16",
    )
