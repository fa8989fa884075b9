"""Matrices as int8 with a scale per row, in memory and in safetensors files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from citewell.core.errors import ModelError
from citewell.core.tensors import Tensor

_LEVELS = 127
_SCALE = ".scale"


class Int8Rows(NamedTuple):
    """A matrix: int8 numbers (rows, columns), each row to be multiplied by its scale, (rows, 1)."""

    numbers: NDArray[np.int8]
    scale: Tensor


def quantize_rows(matrix: Tensor) -> Int8Rows:
    """Round a matrix to int8; a matrix that was rounded before gives the same numbers."""
    scale = np.maximum(np.abs(matrix).max(axis=1, keepdims=True) / _LEVELS, np.finfo(np.float32).tiny)
    return Int8Rows(np.rint(matrix / scale).astype(np.int8), scale)


def write_int8(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to a safetensors file: matrices as int8 with scales, and others as float32."""
    from safetensors.numpy import save_file

    found: dict[str, NDArray[np.generic]] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2:
            found[name], found[name + _SCALE] = quantize_rows(tensor)
        else:
            found[name] = tensor.astype(np.float32)
    save_file(found, file)


def read_int8(file: Path) -> dict[str, Tensor]:
    """Return the tensors that `write_int8` wrote, as float32; raises `ModelError` if they cannot be read."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(file)
        return {
            name: tensor * found[name + _SCALE] if tensor.dtype == np.int8 else tensor
            for name, tensor in found.items()
            if not name.endswith(_SCALE)
        }
    except (OSError, KeyError, SafetensorError) as error:
        raise ModelError(f"The weights {file} cannot be read: {error}", "Copy or train it again.") from error
