"""The trainer of sentence-transformers, with planned batches and checkpoints of the trained weights only."""

from __future__ import annotations

from typing import Any

from sentence_transformers import SentenceTransformerTrainer
from torch.utils.data import BatchSampler, SequentialSampler

from citewell.core.training.checkpoints import check_finite
from citewell.core.training.trainer import CheckpointedTrainer
from citewell.retriever.losses.lists import RankedLists


class DualEncoderTrainer(CheckpointedTrainer, SentenceTransformerTrainer):
    """A trainer of a dual encoder on planned batches (`citewell.retriever.training.plan`)."""

    def get_batch_sampler(self, dataset: Any, *args: Any, **kwargs: Any) -> BatchSampler:
        """Return the batches in the order of the plan; each item of the data set is a whole batch."""
        return BatchSampler(SequentialSampler(dataset), batch_size=1, drop_last=False)

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Do nothing: `citewell.core.training.card` writes the card."""

    def collect_features(self, inputs: dict[str, Any]) -> tuple[list[dict[str, Any]], Any]:
        """Return the tokens of questions and passages, and the labels as `RankedLists`."""
        features, _ = super().collect_features(inputs)
        labels = RankedLists(**{name: inputs[name] for name in RankedLists._fields if name in inputs})
        return features, labels

    def compute_loss(self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Return the loss of a batch; raises `TrainingError` if it is not finite."""
        loss = super().compute_loss(model, inputs, *args, **kwargs)
        value = loss[0] if isinstance(loss, tuple) else loss
        check_finite(
            value.item(),
            f"The loss of step {self.state.global_step + 1}, whose batch has {len(inputs['questions'])} "
            f"questions of the source {inputs['source']} from {inputs['questions'][0][:80]!r} on,",
        )
        return loss
