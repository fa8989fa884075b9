"""The protocol of the dual encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from citewell.retriever.encoder.scale import Scale

Vectors = NDArray[np.float32]


class DualEncoder(Protocol):
    """Two encoders, one for questions and one for passages (WebGLM §3.1.2).

    Both give vectors of the same `dimension`; the inner product of the two vectors orders passages by
    relevance, and `scale` makes it comparable with that of other encoders. `fingerprint` changes with any
    weight, the pooling or the limit of tokens: stored vectors are valid only for the encoder with their
    fingerprint.
    """

    name: str
    fingerprint: str
    dimension: int
    scale: Scale

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode `n` questions as an (n, dimension) array."""
        ...

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode `n` passages as an (n, dimension) array."""
        ...
