"""The scale of an encoder's inner products, which differs between encoders: E5's lie between 0.7 and 1."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

# The means of citewell-minilm, for which thresholds on relevance were first chosen.
_UNRELATED, _MATCHING = 0.05, 0.64


class Scale(msgspec.Struct, frozen=True):
    """The mean inner products of an encoder: of unrelated pairs, and of questions with their passages."""

    unrelated: float = _UNRELATED
    matching: float = _MATCHING

    def relevance(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """Map inner products linearly to relevance, in which the two means are the same for every encoder."""
        slope = (_MATCHING - _UNRELATED) / (self.matching - self.unrelated)
        return np.asarray(_UNRELATED + slope * (products - self.unrelated), dtype=np.float32)
