"""Whether a model computed the same numbers, as exactly as the processor allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy._core._multiarray_umath import __cpu_features__

# Without AVX-512, OpenVINO rounds a token otherwise if other tokens are read with it.
_EXACT = __cpu_features__["AVX512F"]


def same(found: object, expected: object) -> bool:
    """Return whether arrays, or sequences of sequences of numbers, are equal, perhaps but for rounding."""
    ours, theirs = list(_numbers(found)), list(_numbers(expected))
    if _EXACT or len(ours) != len(theirs):
        return ours == theirs
    return bool(np.allclose(ours, theirs, rtol=1e-3, atol=1e-3))


def _numbers(of: object) -> Iterator[float]:
    if isinstance(of, np.ndarray):
        yield from of.ravel().tolist()
    elif isinstance(of, Iterable):
        for each in of:
            yield from _numbers(each)
    else:
        assert isinstance(of, float | int)
        yield of
