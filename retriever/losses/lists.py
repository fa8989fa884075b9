"""What an objective is told about a batch: questions, passages, and which passage is labeled how."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from torch import Tensor


class RankedLists(NamedTuple):
    """The labels of a batch of `q` questions and `p` distinct passages.

    Each question has a list of labeled passages; a passage may be on several lists, and is encoded once.

    `targets` is a (q, p) tensor: the label of a passage on a question's list, NaN where it is not on it.
    `negatives` is a (q, p) tensor of booleans: passages that are not on the list and not known to answer the
    question either, so that they may stand for irrelevant ones.
    `weights` is a (q,) tensor: how much a question counts.
    `encoders` holds (q, p) tensors, by the encoder's name: the inner products that other encoders give, and
    the model before training (`citewell.retriever.losses.encoder_kl`).
    `source` names the data that all questions of the batch are from.
    """

    targets: Tensor
    negatives: Tensor
    weights: Tensor
    encoders: Mapping[str, Tensor] = MappingProxyType({})
    source: str = ""

    @property
    def listed(self) -> Tensor:
        """A (q, p) tensor of booleans: which passages are on which lists."""
        return ~self.targets.isnan()

    @property
    def known(self) -> Tensor:
        """The targets, with 0 in place of NaN."""
        return self.targets.nan_to_num(nan=0.0)


def weighted_mean(values: Tensor, usable: Tensor, weights: Tensor) -> Tensor:
    """The mean of a (q,) tensor over the questions that are `usable`, each times its weight.

    Where no question is usable the mean is 0, and so is its gradient.
    """
    chosen = usable.to(values.dtype)
    kept = values.masked_fill(~usable, 0.0)
    return (kept * chosen * weights).sum() / chosen.sum().clamp(min=1)


def masked_log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """The logarithm of a softmax over the passages in `mask`, row by row; 0 for all others."""
    floor = float("-inf")
    shown = scores.masked_fill(~mask, floor)
    # A row without any passage would be NaN, in its gradient too.
    shown = shown.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
    return shown.log_softmax(dim=1).masked_fill(~mask, 0.0)
