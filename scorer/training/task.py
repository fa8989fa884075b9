"""Fitting of a scorer's model, in its fine-tuning and in its training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from citewell.core.training.fit import Evaluate, FitTask, Goal
from citewell.core.training.plan import PlannedStep
from citewell.scorer.training.config import ScorerTrainingConfig
from citewell.scorer.training.model import TrainableScorer

if TYPE_CHECKING:
    from citewell.core.training.trainer import CheckpointedTrainer, PartLoss


def fit_task(
    trainable: TrainableScorer,
    training: ScorerTrainingConfig,
    steps: Sequence[PlannedStep],
    collate: Callable[[Sequence[dict[str, int]]], dict[str, Any]],
    loss: PartLoss,
    goal: Goal,
    evaluate: Evaluate | None,
) -> FitTask:
    """Fit `trainable` to the `loss` of the parts that `collate` makes of a step."""

    def make(arguments: Mapping[str, Any], rows: Any) -> CheckpointedTrainer:
        from transformers import TrainingArguments

        from citewell.core.training.trainer import HeadedTrainer

        # The trainer requires its own type of collator, and only calls it.
        collator: Any = collate
        # TRL's RewardTrainer takes pairs of one chosen and one rejected answer; here an example has all
        # answers to a question (InstructGPT §3.4) and ties.
        trainer = HeadedTrainer(
            model=trainable.model,
            args=TrainingArguments(**arguments),
            train_dataset=rows,
            eval_dataset=rows if evaluate else None,
            data_collator=collator,
        )
        trainer.part_loss = loss
        trainer.head_rate = training.head_rate
        return trainer

    return FitTask(
        training=training,
        make=make,
        sizes=[step.tokens for step in steps],
        unit="tokens",
        goal=goal,
        evaluate=evaluate,
    )
