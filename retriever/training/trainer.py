"""The trainer of sentence-transformers, with planned batches and checkpoints that hold what is trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import (
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.evaluation import BaseEvaluator
from torch.utils.data import BatchSampler, SequentialSampler

from citewell.core.training.checkpoints import TrainingError
from citewell.core.training.trainer import CheckpointedTrainer, planned_arguments
from citewell.retriever.losses.lists import RankedLists
from citewell.retriever.training.config import EncoderTrainingConfig
from citewell.retriever.training.dev import MEAN, measure_dev
from citewell.retriever.training.sources import DevSet


class DevEvaluator(BaseEvaluator):
    """Measures the dev sets, as `citewell.retriever.training.dev` does."""

    def __init__(self, sets: Sequence[DevSet]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._sets = tuple(sets)

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """The measures by name; the other arguments are the trainer's, and are not needed."""
        return measure_dev(model, self._sets)


class DualEncoderTrainer(CheckpointedTrainer, SentenceTransformerTrainer):
    """Trains a dual encoder on batches that are planned beforehand (`citewell.retriever.training.plan`)."""

    def get_batch_sampler(self, dataset: Any, *args: Any, **kwargs: Any) -> BatchSampler:
        """Batches in the plan's order; each item of the data set is a whole batch."""
        return BatchSampler(SequentialSampler(dataset), batch_size=1, drop_last=False)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Nothing: `citewell.retriever.training.card` writes the card."""

    def collect_features(self, inputs: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
        """The tokens of questions and passages, and the labels as `RankedLists`."""
        features, _ = super().collect_features(inputs)
        labels = RankedLists(**{name: inputs[name] for name in RankedLists._fields if name in inputs})
        return features, labels

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The loss of a batch; raises `TrainingError` where it is not a finite number."""
        loss = super().compute_loss(model, inputs, *args, **kwargs)
        value = loss[0] if isinstance(loss, tuple) else loss
        if not torch.isfinite(value):
            first = inputs["questions"][0]
            raise TrainingError(
                f"The loss of step {self.state.global_step + 1} is {value.item()}: its batch has "
                f"{len(inputs['questions'])} questions of the source {inputs['source']}, "
                f"the first of which is {first[:80]!r}.",
                "Lower learning_rate, or look at that source's labels; the checkpoints before are kept.",
            )
        return loss


def arguments(
    training: EncoderTrainingConfig, folder: Path, *, measured: bool, resumed: bool
) -> SentenceTransformerTrainingArguments:
    """The arguments of the trainer; `measured` says that there are dev rows."""
    best = MEAN if measured else None
    return SentenceTransformerTrainingArguments(
        **planned_arguments(training, folder, best, greater=True, resumed=resumed)
    )
