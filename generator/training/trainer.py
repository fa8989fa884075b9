"""TRL's SFTTrainer, with planned steps and a loss on answers only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from trl.trainer.sft_config import SFTConfig
from trl.trainer.sft_trainer import SFTTrainer

from citewell.core.training.trainer import PlannedTrainer, planned_arguments
from citewell.generator.training.config import OptimisationConfig


class GeneratorTrainer(PlannedTrainer, SFTTrainer):
    """Trains on steps that are planned beforehand (`citewell.generator.training.plan`)."""

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: `citewell.generator.training.card` writes the card."""


def arguments(
    training: OptimisationConfig, folder: Path, best: str | None, *, greater: bool, resumed: bool
) -> SFTConfig:
    """The arguments of the trainer; see `citewell.core.training.trainer.planned_arguments`."""
    return SFTConfig(
        **planned_arguments(training, folder, best, greater=greater, resumed=resumed),
        bf16=torch.cuda.is_available() or training.precision == "bfloat16",
        gradient_checkpointing=False,
        max_length=None,
        dataset_kwargs={"skip_prepare_dataset": True},
    )
