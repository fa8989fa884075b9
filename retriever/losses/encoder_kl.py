"""Distillation of another encoder, or of the model before training, over the passages of a batch."""

from __future__ import annotations

from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists, masked_log_softmax, weighted_mean

BEFORE = ""
"""The name of the model before training, among the encoders whose inner products a batch has."""


class EncoderKl(nn.Module):
    """The divergence of a question's distribution over the batch's passages from another encoder's.

    All passages of the batch take part, on the question's list or not, so that unlabeled texts suffice. With
    the model before training as the other encoder, the objective counters forgetting: supply questions and
    passages of the fields that the model should keep.

    Arguments:
        encoder: the name of the other encoder; `BEFORE` is the model before training.
        temperature: inner products of the model are divided by it.
        teacher_temperature: inner products of the other encoder are divided by it. The cosines of E5, for
            example, are all between 0.7 and 1 and need a lower temperature.

    Arguments of `forward`:
        scores: inner products of a batch, a (q, p) tensor.
        lists: see `citewell.retriever.losses.lists.RankedLists`; only `encoders` and `weights` are read.

    Reference:
        Distillation with in-batch passages, https://arxiv.org/abs/2010.11386; against forgetting,
        https://arxiv.org/abs/1606.09282, with a ranking in place of classes.

    Requirements:
        1. `RankedLists.encoders`. The trainer encodes all texts once with each named encoder.
        2. At least two passages in a batch.

    Inputs:
        +---------------------------------------------+------------------------------------------+
        | Texts                                       | Labels                                   |
        +=============================================+==========================================+
        | a question and its passages                 | any; they are not used                   |
        +---------------------------------------------+------------------------------------------+

    Relations:
        - `ListwiseKl` is the same divergence from labels, over one question's list.

    Example:
        >>> import torch
        >>> scores = torch.tensor([[0.6, 0.5]])
        >>> lists = RankedLists(
        ...     targets=torch.tensor([[1.0, 0.0]]),
        ...     negatives=torch.zeros(1, 2, dtype=torch.bool),
        ...     weights=torch.ones(1),
        ...     encoders={"teacher": torch.tensor([[0.82, 0.80]])},
        ... )
        >>> float(EncoderKl("teacher", temperature=0.05, teacher_temperature=0.01)(scores, lists)) < 1e-6
        True
    """

    def __init__(
        self, encoder: str = BEFORE, temperature: float = 0.05, teacher_temperature: float = 0.05
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.temperature = temperature
        self.teacher_temperature = teacher_temperature

    def forward(self, scores: Tensor, lists: RankedLists) -> Tensor:
        """Compute the loss of a batch, a scalar tensor; raise `ValueError` without scores of the encoder."""
        if self.encoder not in lists.encoders:
            name = self.encoder or "the model before training"
            raise ValueError(f"The batch has no inner products of {name}.")
        everything = scores.new_ones(scores.shape).bool()
        teacher = masked_log_softmax(lists.encoders[self.encoder] / self.teacher_temperature, everything)
        student = masked_log_softmax(scores / self.temperature, everything)
        divergences = (teacher.exp() * (teacher - student)).sum(dim=1)
        return weighted_mean(divergences, everything.any(dim=1), lists.weights)
