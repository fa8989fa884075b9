"""The protocol of engines, and their common functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.resolve import PoolingMode

Ids = Sequence[Sequence[int]]
"""The token ids of `n` texts, with the model's special tokens and without padding."""


class Engine(Protocol):
    """An engine for one tower. `lanes` is the number of concurrent batches, each from its own thread."""

    lanes: int
    batch_tokens: int

    def pooled(self, ids: Ids) -> Vectors:
        """Return the pooled vectors of one batch of `n` texts, an (n, dimension) array, not normalized."""
        ...


def pad(ids: Ids) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the token ids and the attention mask, two (n, longest) arrays padded with 0."""
    shape = (len(ids), max(len(text) for text in ids))
    padded, mask = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    for row, text in enumerate(ids):
        padded[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return padded, mask


def pool(states: Vectors, lengths: Sequence[int], mode: PoolingMode) -> Vectors:
    """Pool the (n, longest, dimension) states of `n` texts to (n, dimension): their mean, or the first's."""
    if mode == "cls":
        return states[:, 0]
    return np.stack([states[row, :length].mean(axis=0) for row, length in enumerate(lengths)])
