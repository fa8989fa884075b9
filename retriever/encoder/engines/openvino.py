"""OpenVINO: int8 on the CPU, with the runtime of the language model. https://docs.openvino.ai/"""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from citewell.core.errors import ModelError
from citewell.core.openvino_core import compiled_model
from citewell.retriever.encoder.encoder import Vectors
from citewell.retriever.encoder.engines.engine import Ids, pad
from citewell.retriever.encoder.resolve import Tower

if TYPE_CHECKING:
    from openvino import InferRequest

_FILE = "model.xml"
_OPTIONS = {
    # Numbers of an activation that share a scale; `python -m benchmarks.encoder_engines` compares sizes.
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": 128,
    # The default is bfloat16 on processors that have it, so that vectors would differ between machines.
    "INFERENCE_PRECISION_HINT": "f32",
}


class OpenVinoEngine:
    """The engine of a BERT that `convert` wrote: int8 weights per row, int8 activations, float32 sums."""

    # Small batches of similar length waste little, and spread a few passages over the threads.
    batch_tokens = 512

    def __init__(self, folder: Path, *, threads: int) -> None:
        """Load the model in `folder`; `threads` batches run at a time, each on one thread."""
        self.lanes = threads
        options = _OPTIONS | {"NUM_STREAMS": threads, "INFERENCE_NUM_THREADS": threads}
        self._model = compiled_model(folder / _FILE, options)
        self._idle: list[InferRequest] = []
        # If two threads make the first inferences of a process, they may wait for each other for ever: one
        # holds Python's lock, the other that of a static variable of the library.
        self.pooled([[0]])

    def pooled(self, ids: Ids) -> Vectors:
        """Return the pooled vectors of one batch."""
        padded, mask = pad(ids)
        try:
            request = self._idle.pop()
        except IndexError:  # all of them are busy
            request = self._model.create_infer_request()
        try:
            request.infer([padded, mask.astype(np.float32)], share_inputs=True)
            return np.array(request.get_output_tensor(0).data)
        finally:
            self._idle.append(request)


def convert(tower: Tower, folder: Path) -> None:
    """Write the model of `tower`, its adapter merged, int8, into `folder`.

    Raises `ModelError` as `read_bert` does, and for weights whose shapes do not match; `OSError` if the
    folder cannot be written.
    """
    import openvino

    from citewell.retriever.encoder.graph import build_graph
    from citewell.retriever.encoder.tensors import read_bert

    bert = read_bert(tower)
    try:
        graph = build_graph(bert, tower.pooling)
    except (KeyError, RuntimeError, ValueError) as error:
        raise ModelError(
            f"The weights in {tower.folder} are not those of its config.json: {error}",
            "Copy or download the model again.",
        ) from error
    try:
        openvino.serialize(graph, str(folder / _FILE))
    except RuntimeError as error:  # the library does not state the cause
        raise OSError(errno.EIO, "No space left on the disk, or File too large") from error
