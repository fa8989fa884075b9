"""The weighted sum of objectives: a batch is encoded once, and all of them use its inner products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class WeightedObjective(NamedTuple):
    """An objective, its weight, and the sources of data that it applies to: all if none is named."""

    name: str
    objective: nn.Module
    weight: float = 1.0
    sources: frozenset[str] = frozenset()


class Mixture(nn.Module):
    """The weighted sum of objectives, as a loss for the trainer of sentence-transformers.

    Questions and passages are encoded once for all objectives, each distinct passage once per batch.

    Arguments:
        model: a SentenceTransformer, usually with a Router for questions and passages.
        parts: the objectives with their weights.

    Arguments of `forward`:
        sentence_features: the q tokenized questions, then the p distinct passages in one or more groups;
            groups of passages of similar length waste less time on padding.
        labels: a `RankedLists`, whose p columns are the passages of all groups in order.

    Reference:
        The weighted sum of WebGLM's two objectives, section 3.1.2 of https://arxiv.org/abs/2306.07906 and the
        released code, and of those that distil a ranking; see each objective.

    Requirements:
        1. An objective for each source of data.
        2. The requirements of the objectives.

    Inputs:
        +---------------------------------------------+------------------------------------------+
        | Texts                                       | Labels                                   |
        +=============================================+==========================================+
        | q questions and the passages of their lists | `RankedLists`                            |
        +---------------------------------------------+------------------------------------------+

    Relations:
        - All objectives of `citewell.retriever.losses` are parts of a mixture; a single one is a mixture of
        one.

    Example:
        ::

            parts = [Part("contrastive", Contrastive()), Part("anchor", EncoderKl(), weight=0.2)]
            trainer = DualEncoderTrainer(model=model, loss=Mixture(model, parts), ...)
    """

    def __init__(self, model: SentenceTransformer, parts: Sequence[WeightedObjective]) -> None:
        super().__init__()
        self.model = model
        self.parts = tuple(parts)

    def forward(self, sentence_features: Iterable[dict[str, Any]], labels: RankedLists) -> dict[str, Tensor]:
        """Compute the weighted loss of each objective of the batch's source, by name; scalar tensors."""
        questions, *groups = (self.model(features)["sentence_embedding"] for features in sentence_features)
        return self.losses(questions @ torch.cat(groups).T, labels)

    def losses(self, scores: Tensor, labels: RankedLists) -> dict[str, Tensor]:
        """Compute the result of `forward` from the (q, p) inner products of a batch."""
        return {
            part.name: part.weight * part.objective(scores, labels)
            for part in self.parts
            if not part.sources or labels.source in part.sources
        }
