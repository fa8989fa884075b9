"""The objective of WebGLM: inner products that equal the labels."""

from __future__ import annotations

from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists, weighted_mean


class InnerProductMse(nn.Module):
    """The squared difference between the inner product of question and passage and the passage's label.

    Each list counts the same, however many passages it holds.

    Arguments of `forward`:
        scores: inner products of a batch, a (q, p) tensor.
        lists: the labels, see `citewell.retriever.losses.lists.RankedLists`.

    Reference:
        WebGLM, section 3.1.2 (https://arxiv.org/abs/2306.07906): the labels are the ROUGE-1 precisions of
        question and reference pairs.

    Requirements:
        1. Labels on the scale of inner products. For a model with unit vectors these are cosines, which
           labels between 0 and 1 fit and logarithms of ranks do not.

    Inputs:
        +---------------------------------------------+------------------------------+
        | Texts                                       | Labels                       |
        +=============================================+==============================+
        | a question and its n passages               | n numbers, one for a passage |
        +---------------------------------------------+------------------------------+

    Relations:
        - `MarginMse` compares differences of labels, and so does not depend on their origin and scale.
        - `ListwiseKl` compares the order of a list.

    Example:
        >>> import torch
        >>> lists = RankedLists(
        ...     targets=torch.tensor([[0.9, 0.2]]),
        ...     negatives=torch.zeros(1, 2, dtype=torch.bool),
        ...     weights=torch.ones(1),
        ... )
        >>> round(float(InnerProductMse()(torch.tensor([[0.8, 0.4]]), lists)), 4)
        0.025
    """

    def forward(self, scores: Tensor, lists: RankedLists) -> Tensor:
        """Compute the loss of a batch, a scalar tensor."""
        listed = lists.listed
        errors = (scores - lists.known).square() * listed
        lengths = listed.sum(dim=1)
        return weighted_mean(errors.sum(dim=1) / lengths.clamp(min=1), lengths > 0, lists.weights)
