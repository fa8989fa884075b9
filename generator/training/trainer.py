"""TRL's SFTTrainer, with planned steps and a loss on answers only."""

from __future__ import annotations

from typing import Any

from trl.trainer.sft_trainer import SFTTrainer

from citewell.core.training.trainer import PlannedTrainer


class GeneratorTrainer(PlannedTrainer, SFTTrainer):
    """A trainer on planned steps (`citewell.core.training.plan`)."""

    def create_model_card(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: `citewell.core.training.card` writes the card."""
