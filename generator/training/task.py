"""The fitting of a causal language model to texts, shared by generators and policies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from citewell.core.training.fit import Evaluate, FitTask, Goal
from citewell.core.training.plan import PlannedDraw, PlannedStep
from citewell.generator.training.collate import GeneratorCollator
from citewell.generator.training.config import CausalTrainingConfig
from citewell.generator.training.encode import TokenizedExample
from citewell.generator.training.loss import part_loss
from citewell.generator.training.model import TrainableGenerator

if TYPE_CHECKING:
    from citewell.core.training.trainer import CheckpointedTrainer


def fit_task(
    trained: TrainableGenerator,
    training: CausalTrainingConfig,
    steps: Sequence[PlannedStep],
    encode: Callable[[PlannedDraw], TokenizedExample],
    goal: Goal,
    evaluate: Evaluate | None,
) -> FitTask:
    """Fit `trained` to the examples that `encode` tokenizes when they are due."""

    def make(arguments: Mapping[str, Any], rows: Any) -> CheckpointedTrainer:
        from trl.trainer.sft_config import SFTConfig

        from citewell.generator.training.trainer import GeneratorTrainer

        # The trainer's type asks for its own collator class, but it only calls it.
        collator: Any = GeneratorCollator(steps, encode, packing=training.packing)
        trainer = GeneratorTrainer(
            model=trained.model,
            args=SFTConfig(
                **arguments,
                gradient_checkpointing=False,
                max_length=None,
                dataset_kwargs={"skip_prepare_dataset": True},
            ),
            train_dataset=rows,
            eval_dataset=rows if evaluate else None,
            processing_class=trained.tokenizer,
            data_collator=collator,
        )
        trainer.part_loss = part_loss
        return trainer

    return FitTask(
        training=training,
        make=make,
        sizes=[step.tokens for step in steps],
        unit="tokens",
        goal=goal,
        evaluate=evaluate,
    )
