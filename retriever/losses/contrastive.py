"""The objective of WebGLM's released code: the positive above explicit and in-batch negatives."""

from __future__ import annotations

from torch import Tensor, nn

from citewell.retriever.losses.lists import RankedLists, weighted_mean


class Contrastive(nn.Module):
    """Cross entropy of a list's positives against its own negatives and against the batch's other passages.

    The best labeled passages of a list are its positives, if their label is above 0. Passages labeled lower
    by more than `margin` are explicit negatives; passages in between are ignored. All other passages of the
    batch are negatives too, except those known to answer the question (`RankedLists.negatives`): a passage
    that several questions share must not be pushed away from any of them. Each positive is compared only with
    the negatives, never with another positive.

    Arguments:
        temperature: inner products are divided by it. For unit vectors 0.05 is usual.
        margin: the least difference between the best label and an explicit negative's.

    Arguments of `forward`:
        scores: inner products of a batch, a (q, p) tensor.
        lists: the labels, see `citewell.retriever.losses.lists.RankedLists`.

    Reference:
        WebGLM's released code, https://github.com/THUDM/WebGLM (temperature 0.05, one explicit negative);
        InfoNCE, section 2.3 of https://arxiv.org/abs/1807.03748; in-batch negatives for retrieval,
        https://arxiv.org/abs/2004.04906.

    Requirements:
        1. At least one relevant passage in a list; lists without a label above 0 are skipped.
        2. A batch of many questions, because it has more negatives.

    Inputs:
        +---------------------------------------------+------------------------------------------+
        | Texts                                       | Labels                                   |
        +=============================================+==========================================+
        | a question and its positives                | 1 for each                               |
        +---------------------------------------------+------------------------------------------+
        | a question, its positives and hard negatives| 1 for positives, 0 for negatives         |
        +---------------------------------------------+------------------------------------------+
        | a question and graded passages              | grades, or any labels not below 0        |
        +---------------------------------------------+------------------------------------------+

    Relations:
        - MultipleNegativesRankingLoss of sentence-transformers is the same for one positive per question, but
          treats passages that several questions of a batch share as negatives.
        - `ListwiseKl` learns the whole order of a list, without in-batch negatives.

    Example:
        >>> import torch
        >>> lists = RankedLists(
        ...     targets=torch.tensor([[1.0, 0.0, float("nan")]]),
        ...     negatives=torch.tensor([[False, False, True]]),
        ...     weights=torch.ones(1),
        ... )
        >>> round(float(Contrastive(temperature=1.0)(torch.tensor([[1.0, 0.0, 0.0]]), lists)), 4)
        0.5514
    """

    def __init__(self, temperature: float = 0.05, margin: float = 0.0) -> None:
        super().__init__()
        self.temperature = temperature
        self.margin = margin

    def forward(self, scores: Tensor, lists: RankedLists) -> Tensor:
        """Compute the loss of a batch, a scalar tensor."""
        labels = lists.targets.nan_to_num(nan=float("-inf"))
        best = labels.max(dim=1, keepdim=True).values
        positives = lists.listed & (labels >= best) & (best > 0)
        negatives = lists.negatives | (lists.listed & (labels < best - self.margin))
        counts = positives.sum(dim=1)
        usable = (counts > 0) & negatives.any(dim=1)
        logits = scores / self.temperature
        # The log of the sum over all negatives, to which each positive in turn is added. Rows without any
        # would be infinite, and their gradient NaN even where it is multiplied by 0.
        shown = negatives | ~usable.unsqueeze(1)
        others = logits.masked_fill(~shown, float("-inf")).logsumexp(dim=1, keepdim=True)
        losses = (others.logaddexp(logits) - logits) * positives
        return weighted_mean(losses.sum(dim=1) / counts.clamp(min=1), usable, lists.weights)
