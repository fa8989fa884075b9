"""A BERT with its pooling as a graph of OpenVINO, its matrices int8. https://docs.openvino.ai/"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.retriever.encoder.int8 import quantize_rows
from citewell.retriever.encoder.resolve import PoolingMode
from citewell.retriever.encoder.tensors import BertWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from openvino import Model, Node

IDS, MASK = "ids", "mask"

_MASKED = 1e4  # subtracted from the scores of padding before the softmax


def build_graph(bert: BertWeights, pooling: PoolingMode) -> Model:
    """Build the graph from ids (int64) and mask (float32), both (n, length), to n pooled vectors.

    Each row of a matrix has its own scale. OpenVINO quantizes the activations at run time on processors that
    multiply int8 (see `OpenVinoEngine`), and computes with float32 on others.
    """
    import openvino
    from openvino import opset13 as op

    ids = op.parameter([-1, -1], np.int64, IDS)
    mask = op.parameter([-1, -1], np.float32, MASK)
    graph = _Graph(bert)
    states = graph.embedded(ids)
    hidden = op.subtract(op.unsqueeze(mask, _ints([1, 2])), _floats(1.0))
    bias = op.multiply(hidden, _floats(_MASKED))
    for layer in range(bert.layers):
        states = graph.layer(states, bias, f"encoder.layer.{layer}")
    if pooling == "cls":
        pooled = op.gather(states, _ints(0), _ints(1))
    else:
        weights = op.unsqueeze(mask, _ints([2]))
        total = op.reduce_sum(op.multiply(states, weights), _ints([1]), False)
        pooled = op.divide(total, op.reduce_sum(weights, _ints([1]), False))
    return openvino.Model([pooled], [ids, mask], "encoder")


class _Graph:
    """The parts of a BERT (https://arxiv.org/abs/1810.04805), as transformers' `BertModel` computes it."""

    def __init__(self, bert: BertWeights) -> None:
        self._bert = bert
        self._tensors = bert.tensors
        self._dimension = bert.positions.shape[1]

    def embedded(self, ids: Node) -> Node:
        from openvino import opset13 as op

        table = self._tensors["embeddings.word_embeddings.weight"]
        # Half the size on disk, with rounding errors far below those of int8.
        words = op.gather(op.convert(op.constant(table.astype(np.float16)), "f32"), ids, _ints(0))
        length = op.gather(op.shape_of(ids), _ints(1), _ints(0))
        positions = op.range(_ints(0), length, _ints(1), "i64")
        places = op.gather(op.constant(self._bert.positions), positions, _ints(0))
        return self._norm(op.add(words, places), "embeddings.LayerNorm")

    def layer(self, states: Node, bias: Node, name: str) -> Node:
        from openvino import opset13 as op

        attended = self._linear(self._attention(states, bias, name), f"{name}.attention.output.dense")
        states = self._norm(op.add(states, attended), f"{name}.attention.output.LayerNorm")
        inner = op.gelu(self._linear(states, f"{name}.intermediate.dense"), self._bert.gelu)
        outer = self._linear(inner, f"{name}.output.dense")
        return self._norm(op.add(states, outer), f"{name}.output.LayerNorm")

    def _attention(self, states: Node, bias: Node, name: str) -> Node:
        from openvino import opset13 as op

        width = self._dimension // self._bert.heads
        split, swap = _ints([0, 0, self._bert.heads, width]), _ints([0, 2, 1, 3])
        query, key, value = (
            op.transpose(op.reshape(self._linear(states, f"{name}.attention.self.{role}"), split, True), swap)
            for role in ("query", "key", "value")
        )
        # OpenVINO's fused attention is slower for texts this short.
        scores = op.multiply(op.matmul(query, key, False, True), _floats(width**-0.5))
        mixed = op.matmul(op.softmax(op.add(scores, bias), -1), value, False, False)
        return op.reshape(op.transpose(mixed, swap), _ints([0, 0, self._dimension]), True)

    def _linear(self, states: Node, name: str) -> Node:
        from openvino import opset13 as op

        rows = quantize_rows(self._tensors[f"{name}.weight"])
        matrix = op.multiply(op.convert(op.constant(rows.numbers), "f32"), op.constant(rows.scale))
        return op.add(op.matmul(states, matrix, False, True), self._row(f"{name}.bias"))

    def _norm(self, states: Node, name: str) -> Node:
        from openvino import opset13 as op

        scaled = op.multiply(
            op.mvn(states, _ints([-1]), True, self._bert.epsilon, "inside_sqrt"), self._row(f"{name}.weight")
        )
        return op.add(scaled, self._row(f"{name}.bias"))

    def _row(self, name: str) -> Node:
        from openvino import opset13 as op

        return op.constant(self._tensors[name].reshape(1, 1, -1))


def _ints(values: Any) -> Node:
    from openvino import opset13 as op

    array: NDArray[np.int64] = np.array(values, dtype=np.int64)
    return op.constant(array)


def _floats(value: float) -> Node:
    from openvino import opset13 as op

    return op.constant(np.array(value, dtype=np.float32))
