"""The loss of a part of a step; the parts of a step add up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def loss_of(scores: torch.Tensor, part: Mapping[str, Any], *, scale: float, binary: float) -> torch.Tensor:
    """Return the loss of a part's scores (n,); see `citewell.retriever.cross_encoder.training.collate`.

    Each group has a listwise and a binary cross-entropy with its labels, which are between 0 and 1. The
    listwise one is of a softmax over the scores plus `scale` × the inner products of a dual encoder: the
    cross-encoder learns what these lack, and leaves their order as it is where it has learned nothing. The
    binary one is of the scores alone, and makes them logits of the probability of an answer. Groups without
    a label above 0 have only the second.
    """
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits

    total = torch.zeros(())
    start = 0
    for size, share in zip(part["sizes"], part["shares"], strict=True):
        own, labels = scores[start : start + size], part["labels"][start : start + size]
        whole = own + scale * part["products"][start : start + size]
        start += size
        found = binary * binary_cross_entropy_with_logits(own, labels)
        if labels.max() > 0 and size > 1:
            found = found - (labels / labels.sum() * torch.log_softmax(whole, dim=0)).sum()
        total = total + share * found
    return total
