"""A LoRA adapter in a graph of OpenVINO, which some tokens use and others do not.

One set of weights then writes as it was made to, and judges as it was trained to: beside each adapted layer
stands a narrow branch (https://arxiv.org/abs/2106.09685, figure 1), which a mark for each token opens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from citewell.core.lora import check_shape, misfit, read_adapter

if TYPE_CHECKING:
    import openvino

ADAPTED = "adapted"
"""The input of shape (tokens) that is 1 for the tokens that use the adapter, and 0 for others."""


def with_adapter(model: openvino.Model, adapter: Path) -> None:
    """Add an adapter in the PEFT format to a model whose hidden states have the shape (tokens, 1, width).

    The model's matrices have the names of their layers, as `citewell.core.gguf_weights` gives them. Raises
    `ModelError` for an adapter that cannot be read or does not fit.
    """
    from openvino import opset13

    marks = opset13.parameter([-1], np.float32, name=ADAPTED)
    marks.output(0).get_tensor().set_names({ADAPTED})
    column = opset13.unsqueeze(marks, opset13.constant([1, 2], dtype=np.int64))
    layers = dict(_linear_layers(model))
    for path, change in read_adapter(adapter).items():
        if path not in layers:
            raise misfit(adapter, f"the model has no linear layer {path}.")
        layer = layers[path]
        rows, columns = layer.input_value(1).get_partial_shape()
        check_shape(adapter, path, change, (rows.get_length(), columns.get_length()))
        down = opset13.constant(np.ascontiguousarray(change.down * np.float32(change.scale)))
        up = opset13.constant(np.ascontiguousarray(change.up))
        users = layer.output(0).get_target_inputs()
        narrow = opset13.matmul(layer.input_value(0), down, transpose_a=False, transpose_b=True)
        branch = opset13.matmul(opset13.multiply(narrow, column), up, transpose_a=False, transpose_b=True)
        both = opset13.add(layer, branch)
        for user in users:
            user.replace_source_output(both.output(0))
    model.add_parameters([marks])
    model.validate_nodes_and_infer_types()


def _linear_layers(model: openvino.Model) -> Iterator[tuple[str, Any]]:
    """Yield the name of each matrix that multiplies hidden states, and the node that does."""
    for node in model.get_ops():
        if node.get_type_name() == "MatMul" and (name := _matrix_name(node.input_value(1).get_node())):
            yield name, node


def _matrix_name(node: Any) -> str:
    """Return the name of the matrix that comes out of a node, past changes of its form; "" without one."""
    while node.get_type_name() in ("Convert", "Reshape"):
        node = node.input_value(0).get_node()
    return str(node.get_friendly_name()) if node.get_type_name() == "Multiply" else ""
