"""ONNX Runtime: dynamically quantised to int8, on the CPU. https://onnxruntime.ai/"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from citewell.core.errors import ModelError
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Ids, pad, pool
from citewell.retriever.encoder.resolve import PoolingMode, Tower

_INPUTS = ["input_ids", "attention_mask"]
_OPSET = 17


class OnnxEngine:
    """A model that `convert` wrote. Weights are int8 by channel, activations uint8 by batch, sums float32."""

    batch_tokens = 512

    def __init__(self, file: Path, pooling: PoolingMode, *, threads: int) -> None:
        """Load the model in `file`; `threads` batches are computed at a time, each by its caller."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self.lanes = threads
        self._pooling = pooling
        self._session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def pooled(self, ids: Ids) -> Vectors:
        """The pooled vectors of one batch."""
        (states,) = self._session.run(None, dict(zip(_INPUTS, pad(ids), strict=True)))
        return pool(np.asarray(states), [len(text) for text in ids], self._pooling)


def convert(tower: Tower, model: Any, target: Path) -> None:
    """Write the float32 `model` of `tower`, int8, as `model.onnx` into the new folder `target`.

    Raises `ModelError` for a model that PyTorch cannot export.
    """
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    class ExportedEncoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    ids = torch.tensor([[5] * 16, [5] * 16])
    mask = torch.ones_like(ids)
    mask[1, 10:] = 0
    axes = {name: {0: "texts", 1: "tokens"} for name in [*_INPUTS, "states"]}
    model.set_attn_implementation("eager")  # the only one that exports to the plainest operators
    try:
        with (
            tempfile.TemporaryDirectory(dir=target.parent) as scratch,
            warnings.catch_warnings(),
            torch.no_grad(),
        ):
            warnings.simplefilter("ignore")  # about traced branches, which depend on the model alone
            exported = Path(scratch, "exported.onnx")
            torch.onnx.export(
                ExportedEncoder(),
                (ids, mask),
                str(exported),
                input_names=_INPUTS,
                output_names=["states"],
                dynamic_axes=axes,
                opset_version=_OPSET,
                dynamo=False,  # ten times faster than the newer exporter
            )
            target.mkdir()
            quantize_dynamic(exported, target / "model.onnx", weight_type=QuantType.QInt8, per_channel=True)
    except (ValueError, KeyError, RuntimeError, TypeError, AttributeError) as error:
        raise ModelError(
            f"The model {tower.folder} cannot be converted for ONNX Runtime: {error}",
            "Use a BERT-like model, or the setting retriever.engine = torch.",
        ) from error
    finally:
        model.set_attn_implementation("sdpa")
