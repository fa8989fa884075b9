"""Distillation of a teacher's margins: the differences between the scores of two passages."""

from __future__ import annotations

from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists, weighted_mean


class MarginMse(nn.Module):
    """The squared difference between margins of inner products and of labels, over all pairs of a list.

    Only differences count: adding a number to all labels of a list changes nothing.

    Arguments:
        scale: margins of inner products are multiplied by it before they are compared. Cosines differ less
            than most labels do.

    Arguments of `forward`:
        scores: inner products of a batch, a (q, p) tensor.
        lists: the teacher's scores as labels, see `citewell.retriever.losses.lists.RankedLists`.

    Reference:
        Hofstätter et al. 2020, https://arxiv.org/abs/2010.02666, there for one positive and one negative.

    Requirements:
        1. At least two passages in a list; shorter lists are skipped.
        2. Labels that are scores. Grades work; ranks do not, because only their order has a meaning.

    Inputs:
        +---------------------------------------------+------------------------------------------+
        | Texts                                       | Labels                                   |
        +=============================================+==========================================+
        | a question and its n passages               | n scores of the teacher, any real numbers|
        +---------------------------------------------+------------------------------------------+

    Relations:
        - `InnerProductMse` fixes the scores themselves, not only their differences.
        - MarginMSELoss of sentence-transformers takes one positive's margin to each negative.

    Example:
        >>> import torch
        >>> lists = RankedLists(
        ...     targets=torch.tensor([[5.0, 4.0]]),
        ...     negatives=torch.zeros(1, 2, dtype=torch.bool),
        ...     weights=torch.ones(1),
        ... )
        >>> round(float(MarginMse(scale=10.0)(torch.tensor([[0.7, 0.6]]), lists)), 4)
        0.0
    """

    def __init__(self, scale: float = 1.0) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, scores: Tensor, lists: RankedLists) -> Tensor:
        """Compute the loss of a batch, a scalar tensor."""
        # The mean of (eᵢ - eⱼ)² over the n(n-1) ordered pairs is 2n / (n-1) times the variance of e, which
        # takes (q, p) numbers in place of (q, p, p).
        listed = lists.listed
        lengths = listed.sum(dim=1)
        errors = (self.scale * scores - lists.known) * listed
        means = errors.sum(dim=1, keepdim=True) / lengths.clamp(min=1).unsqueeze(1)
        squares = ((errors - means).square() * listed).sum(dim=1)
        return weighted_mean(2 * squares / (lengths - 1).clamp(min=1), lengths > 1, lists.weights)
