"""The weights of a GGUF file in the graph that OpenVINO makes of it.

OpenVINO GenAI makes a graph of a GGUF file, but rounds its weights once more, in blocks of 32 that share a
scale, and names none of them. So it is given a file in which each row of a matrix holds its own number, and
the rows of its graph say where they belong. Each is then rounded once, from the original, to 8 bits in blocks
of up to 128. OpenVINO rounds activations in blocks of the same length, and longer ones are faster.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from citewell.core.openvino_core import openvino_core

if TYPE_CHECKING:
    import openvino
    from numpy.typing import NDArray

Change = Callable[[str], "NDArray[np.float32] | None"]
"""Maps a tensor's name in the GGUF file to what is added to its values (rows, columns), if anything is."""

_WIDEST = 128
_MOST = 127  # of a rounded weight
_BLOCK = 32  # weights of Q4_0, in which GenAI reads the numbers: a scale of 2 bytes, then 4 bits per weight
_BASE = 16  # of the numbers' digits
_TENSOR_DIGITS, _ROW_DIGITS = 3, 5
_ROWS = 512  # are rounded at a time


def numbered(index: int, rows: int, columns: int) -> NDArray[np.uint8]:
    """Return the bytes of a matrix in Q4_0 whose first weights, in each row, are `index` and the row."""
    blocks = np.zeros((rows, columns // _BLOCK, 2 + _BLOCK // 2), np.uint8)
    blocks[:, 0, :2] = np.ones(1, np.float16).view(np.uint8)
    # A byte's lower half is a weight of the block's first half, its upper half one of the second.
    blocks[:, 0, 2 : 2 + _TENSOR_DIGITS] = _digits(np.array([index]), _TENSOR_DIGITS)
    blocks[:, 0, 2 + _TENSOR_DIGITS : 2 + _TENSOR_DIGITS + _ROW_DIGITS] = _digits(
        np.arange(rows), _ROW_DIGITS
    )
    return blocks.reshape(rows, -1)


def fill_weights(file: Path, reader: Any, layers: Mapping[str, str], change: Change | None = None) -> None:
    """Put an open GGUF file's weights in the place of their numbers, in the model of an .xml file.

    Its .bin file is replaced with it. Rounding is symmetric, to -127…127. The matrices of `layers`, by their
    names in the GGUF file, get those of their layers. Raises `RuntimeError` if the model lacks a matrix of
    the file.
    """
    from openvino import save_model

    model = openvino_core().read_model(str(file))
    found = list(_matrices(model))
    missing = set(_matrix_names(reader)) - {reader.tensors[matrix.tensor].name for matrix in found}
    if missing:
        raise RuntimeError(f"OpenVINO has no place for {', '.join(sorted(missing))}")
    width = math.gcd(_WIDEST, *(matrix.columns for matrix in found))
    with ThreadPoolExecutor() as pool:
        for matrix in found:
            scaled = _fill(matrix, reader, change, width, pool)
            if layer := layers.get(reader.tensors[matrix.tensor].name):
                scaled.set_friendly_name(layer)
    # OpenVINO's plugin reads this when it compiles the model.
    model.set_rt_info(str(width), ["runtime_options", "DYNAMIC_QUANTIZATION_GROUP_SIZE"])
    filled = file.with_name(f"filled-{file.name}")
    save_model(model, str(filled), compress_to_fp16=False)
    for suffix in (".bin", ".xml"):
        filled.with_suffix(suffix).replace(file.with_suffix(suffix))


def _matrix_names(reader: Any) -> Iterator[str]:
    return (tensor.name for tensor in reader.tensors if len(tensor.shape) > 1)


class _Matrix(NamedTuple):
    """The node that gives a matrix in blocks, and which rows of which tensor it has."""

    node: Any
    tensor: int
    rows: NDArray[np.int64]
    columns: int


def _matrices(model: openvino.Model) -> Iterator[_Matrix]:
    """Yield the matrices of a model: integers less their zeros, times a scale per block."""
    for node in model.get_ops():
        if node.get_type_name() != "Multiply":
            continue
        difference = node.input_value(0).get_node()
        if difference.get_type_name() != "Subtract" or len(difference.get_output_partial_shape(0)) != 3:
            continue
        integers = difference.input_value(0).get_node().input_value(0).get_node()
        rows, blocks, block = integers.get_output_shape(0)
        pairs = integers.data.view(np.uint8).reshape(rows, -1)[:, : (_TENSOR_DIGITS + _ROW_DIGITS) // 2]
        digits = np.stack([pairs % _BASE, pairs // _BASE], axis=2).reshape(rows, -1).astype(np.int64)
        tensor, places = _numbers(digits[:1, :_TENSOR_DIGITS]), _numbers(digits[:, _TENSOR_DIGITS:])
        yield _Matrix(node, int(tensor[0]), places, blocks * block)


def _fill(matrix: _Matrix, reader: Any, change: Change | None, width: int, pool: Executor) -> Any:
    """Return the node that gives the matrix now."""
    import gguf
    from openvino import opset13

    tensor = reader.tensors[matrix.tensor]
    added = change(tensor.name) if change else None
    integers = np.empty((len(matrix.rows), matrix.columns // width, width), np.int8)
    scales = np.empty((*integers.shape[:2], 1), np.float16)

    def round_part(start: int) -> None:
        part = slice(start, start + _ROWS)
        rows = matrix.rows[part]
        values = gguf.quants.dequantize(tensor.data[rows], tensor.tensor_type)
        if added is not None:
            values = values + added[rows]
        values = values.astype(np.float32, copy=False).reshape(-1, *integers.shape[1:])
        scales[part] = np.abs(values).max(axis=2, keepdims=True) / _MOST
        divisors = np.where(scales[part] > 0, scales[part], 1).astype(np.float32)
        integers[part] = np.clip(np.rint(values / divisors), -_MOST, _MOST)

    list(pool.map(round_part, range(0, len(matrix.rows), _ROWS)))
    exact = opset13.convert(opset13.constant(integers, shared_memory=True), np.float16)
    scaled = opset13.multiply(exact, opset13.constant(scales, shared_memory=True))
    matrix.node.output(0).replace(scaled.output(0))
    return scaled


def _digits(numbers: NDArray[Any], count: int) -> NDArray[Any]:
    return numbers[:, None] // _BASE ** np.arange(count) % _BASE


def _numbers(digits: NDArray[np.int64]) -> NDArray[np.int64]:
    found: NDArray[np.int64] = digits @ _BASE ** np.arange(digits.shape[1])
    return found
