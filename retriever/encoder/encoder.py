"""The protocol of the dual encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class DualEncoder(Protocol):
    """Two encoders, one for questions and one for passages (WebGLM §3.1.2).

    Both give vectors of the same `dimension`; the relevance of a passage is the inner product of the two
    vectors. `fingerprint` changes with any weight, the pooling or the limit of tokens: stored vectors are
    valid only for the encoder with their fingerprint.
    """

    name: str
    fingerprint: str
    dimension: int

    def encode_questions(self, questions: Sequence[str]) -> Vectors:
        """Encode `n` questions as an (n, dimension) array."""
        ...

    def encode_passages(self, passages: Sequence[str]) -> Vectors:
        """Encode `n` passages as an (n, dimension) array."""
        ...
