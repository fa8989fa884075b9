"""The labels of a batch, the input of an objective beside the inner products."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from torch import Tensor


class RankedLists(NamedTuple):
    """The labels of a batch of `q` questions and `p` distinct passages.

    Each question has a list of labeled passages; a passage may be on several lists, and is encoded once.

    `targets` is a (q, p) tensor: the label of each passage on a question's list, NaN for other passages.
    `negatives` is a (q, p) tensor of booleans: passages that are neither on the list nor known to answer the
    question, and so can serve as irrelevant ones.
    `weights` is a (q,) tensor: the weight of each question.
    `encoders` holds (q, p) tensors by the encoder's name: the inner products of other encoders, and of the
    model before training (`citewell.retriever.losses.encoder_kl`).
    `source` names the data of all questions of the batch.
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
    """Return the mean of a (q,) tensor over the questions that are `usable`, each times its weight.

    Without a usable question, the mean and its gradient are 0.
    """
    chosen = usable.to(values.dtype)
    kept = values.masked_fill(~usable, 0.0)
    return (kept * chosen * weights).sum() / chosen.sum().clamp(min=1)


def masked_log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Return the logarithm of a softmax over the passages in `mask`, row by row; 0 for all others."""
    floor = float("-inf")
    shown = scores.masked_fill(~mask, floor)
    # A row without any passage would be NaN, in its gradient too.
    shown = shown.masked_fill(~mask.any(dim=1, keepdim=True), 0.0)
    return shown.log_softmax(dim=1).masked_fill(~mask, 0.0)
