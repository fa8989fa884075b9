"""Distillation of a teacher's list: the student learns the teacher's distribution over the passages."""

from __future__ import annotations

from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists, masked_log_softmax, weighted_mean


class ListwiseKl(nn.Module):
    """The Kullback-Leibler divergence of the student's distribution over a list from the teacher's.

    Both distributions are softmaxes over the passages of one list: of the labels divided by
    `teacher_temperature`, and of the inner products divided by `temperature`.

    Arguments:
        temperature: inner products are divided by it. For unit vectors 0.05 is usual.
        teacher_temperature: labels are divided by it. A smaller one gives the top of the list more weight.

    Arguments of `forward`:
        scores: inner products of a batch, a (q, p) tensor.
        lists: the teacher's scores as labels, see `citewell.retriever.losses.lists.RankedLists`.

    Reference:
        ListNet, section 4 of https://www.microsoft.com/en-us/research/publication/learning-to-rank-from-pairwise-approach-to-listwise-approach/;
        as distillation of a reader into a retriever: https://arxiv.org/abs/2012.04584.

    Requirements:
        1. At least two passages in a list; shorter lists are skipped.
        2. Labels with meaningful differences: for the logarithms of mean reciprocal ranks of
           `citewell.retriever.training.labels.rankings`, the distribution at `teacher_temperature` 1 is
           proportional to the reciprocal ranks.

    Inputs:
        +---------------------------------------------+------------------------------------------+
        | Texts                                       | Labels                                   |
        +=============================================+==========================================+
        | a question and its n passages               | n scores of the teacher, any real numbers|
        +---------------------------------------------+------------------------------------------+

    Relations:
        - `MarginMse` asks for the teacher's differences themselves, on the scale of inner products.
        - `EncoderKl` is the same divergence from another encoder's inner products, over the whole batch.
        - DistillKLDivLoss of sentence-transformers multiplies by the square of its one temperature.

    Example:
        >>> import torch
        >>> lists = RankedLists(
        ...     targets=torch.tensor([[2.0, 1.0]]),
        ...     negatives=torch.zeros(1, 2, dtype=torch.bool),
        ...     weights=torch.ones(1),
        ... )
        >>> float(ListwiseKl(temperature=0.1)(torch.tensor([[0.6, 0.5]]), lists)) < 1e-6
        True
    """

    def __init__(self, temperature: float = 0.05, teacher_temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = temperature
        self.teacher_temperature = teacher_temperature

    def forward(self, scores: Tensor, lists: RankedLists) -> Tensor:
        """Compute the loss of a batch, a scalar tensor."""
        listed = lists.listed
        teacher = masked_log_softmax(lists.known / self.teacher_temperature, listed)
        student = masked_log_softmax(scores / self.temperature, listed)
        divergences = (teacher.exp() * listed * (teacher - student)).sum(dim=1)
        return weighted_mean(divergences, listed.sum(dim=1) > 1, lists.weights)
