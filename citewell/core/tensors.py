"""Weights in safetensors files, read as float32 and written without PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing import Any

Tensor = NDArray[np.float32]

_KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def read_tensors(file: Path) -> dict[str, Tensor]:
    """Return the floating-point tensors of a safetensors file by their names.

    Others, such as indices, are skipped. Raises `OSError` where the file cannot be read, and `ValueError`
    where it is damaged. https://huggingface.co/docs/safetensors
    """
    from safetensors import SafetensorError, deserialize

    try:
        found = deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ValueError(f"{file.name}: {error}") from error
    return {
        name: _array(about)
        for name, about in sorted(found, key=lambda each: each[0])
        if about["dtype"] in _KINDS
    }


def write_tensors(file: Path, tensors: Mapping[str, Tensor], kind: np.dtype[np.floating[Any]]) -> None:
    """Write tensors to a safetensors file as numbers of `kind`; equal tensors give equal bytes."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, tensor in sorted(tensors.items()):
        begin, end = end, end + tensor.size * kind.itemsize
        header[name] = {
            "dtype": f"F{8 * kind.itemsize}",
            "shape": tensor.shape,
            "data_offsets": (begin, end),
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in sorted(tensors.items()):
            out.write(tensor.astype(kind.newbyteorder("<")).tobytes())


def _array(about: Any) -> Tensor:
    values = np.frombuffer(about["data"], dtype=_KINDS[about["dtype"]]).reshape(about["shape"])
    if about["dtype"] == "BF16":  # the upper half of a float32
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)
