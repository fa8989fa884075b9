"""The trainer of transformers, with a separate learning rate for the head."""

from __future__ import annotations

from typing import Any

import torch

from citewell.core.training.trainer import PlannedTrainer


class ScorerTrainer(PlannedTrainer):
    """Trains on planned steps (`citewell.core.training.plan`).

    TRL's RewardTrainer takes pairs of one chosen and one rejected answer; here an example has all answers to
    a question (InstructGPT §3.4) and ties, and gradients are accumulated over parts of one length.
    """

    head_rate = 1.0
    """The learning rate of the model's part `head`, as a multiple of that of the rest."""

    def create_optimizer(self, *args: Any, **kwargs: Any) -> torch.optim.Optimizer:
        """Create AdamW with a separate learning rate for the head."""
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
